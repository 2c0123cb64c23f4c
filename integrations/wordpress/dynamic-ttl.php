<?php
/**
 * Plugin Name: Dynamic ttl
 * Description: The feed tells readers when to come back: element, syndication module and headers, by the hours at which you post.
 * Version: 0.2.2
 * Requires at least: 5.5
 * Requires PHP: 7.4
 * License: MIT
 *
 * One file: put it into wp-content/plugins/ (or mu-plugins/) and name the mirror in wp-config.php:
 *
 *     define('DYNAMIC_TTL_SOURCE', 'https://here.example/mirror/blog/ttl.json');
 *
 * It asks there once an hour at most, and never while a reader waits for longer than two seconds. Without an
 * answer the feed stays as WordPress makes it.
 */

if (!defined('ABSPATH')) {
    exit;
}

const DYNAMIC_TTL_KEPT = 'dynamic_ttl_answer';
const DYNAMIC_TTL_FAILED = 'dynamic_ttl_failed';

/** What the feed is to say now: ttl, max_age, period, frequency; null where nothing is known. */
function dynamic_ttl_now()
{
    $told = get_transient(DYNAMIC_TTL_KEPT);
    if (!is_array($told) || $told['valid_until'] <= time()) {
        $fresh = dynamic_ttl_ask();
        if ($fresh !== null) {
            // Whoever has the feed with another ttl, or with none, gets it anew.
            $same = is_array($told) && $fresh['ttl'] === $told['ttl'];
            $fresh['since'] = $same ? max($fresh['since'], $told['since']) : time();
            $told = $fresh;
            dynamic_ttl_keep($told);
        } elseif (is_array($told) && $told['valid_until'] + HOUR_IN_SECONDS <= time()) {
            delete_transient(DYNAMIC_TTL_KEPT);
            $told = null;
        }
    }
    if (!is_array($told)) {
        return null;
    }
    $told['max_age'] = dynamic_ttl_max_age($told, time());
    return $told;
}

/** Keep an answer: to be used for an hour longer than it is valid, and to tell whether the next one is another. */
function dynamic_ttl_keep($told)
{
    set_transient(DYNAMIC_TTL_KEPT, $told, 7 * DAY_IN_SECONDS);
}

/** Seconds for which a copy fetched now is good: by the five minutes of the hour, else the ttl. */
function dynamic_ttl_max_age($told, $now)
{
    $slot = min(11, max(0, intdiv($now - $told['hour_begins_at'], 300)));
    $left = isset($told['good_until'][$slot]) ? $told['good_until'][$slot] - $now - 60 : 0;
    return $left >= 60 ? min($left, 7 * DAY_IN_SECONDS) : $told['ttl'] * 60;
}

/** Ask the mirror; null where it does not answer well. After a failure it is left alone for ten minutes. */
function dynamic_ttl_ask()
{
    if (!defined('DYNAMIC_TTL_SOURCE') || get_transient(DYNAMIC_TTL_FAILED)) {
        return null;
    }
    // Said beforehand, so that of many readers in the same moment one waits for the answer.
    set_transient(DYNAMIC_TTL_FAILED, 1, 10 * MINUTE_IN_SECONDS);
    $options = array('timeout' => 2, 'redirection' => 2, 'limit_response_size' => 65536);
    $reply = wp_remote_get(DYNAMIC_TTL_SOURCE, $options);
    if (!is_wp_error($reply) && wp_remote_retrieve_response_code($reply) === 200) {
        $told = dynamic_ttl_read(wp_remote_retrieve_body($reply));
        if ($told !== null) {
            delete_transient(DYNAMIC_TTL_FAILED);
            return $told;
        }
    }
    return null;
}

/** The answer as numbers; null for anything else. */
function dynamic_ttl_read($body)
{
    $json = json_decode($body, true);
    if (!is_array($json)) {
        return null;
    }
    foreach (array('ttl_minutes', 'hour_begins_at', 'valid_until') as $name) {
        if (!isset($json[$name]) || !is_int($json[$name]) || $json[$name] < 1) {
            return null;
        }
    }
    $periods = array('hourly', 'daily');
    $said = isset($json['update_period'], $json['update_frequency'])
        && in_array($json['update_period'], $periods, true) && is_int($json['update_frequency']);
    $until = isset($json['good_until']) && is_array($json['good_until']) ? $json['good_until'] : array();
    return array(
        'ttl' => min($json['ttl_minutes'], 10080),
        'hour_begins_at' => $json['hour_begins_at'],
        'good_until' => array_filter(array_slice(array_values($until), 0, 12), 'is_int'),
        'since' => isset($json['unchanged_since']) && is_int($json['unchanged_since']) ? $json['unchanged_since'] : 0,
        'valid_until' => min(max($json['valid_until'], time() + MINUTE_IN_SECONDS), time() + HOUR_IN_SECONDS),
        'period' => $said ? $json['update_period'] : null,
        'frequency' => $said ? $json['update_frequency'] : null,
    );
}

/** The element, in the channel of RSS 2.0. */
function dynamic_ttl_element()
{
    $told = dynamic_ttl_now();
    if ($told !== null) {
        printf("\t<ttl>%d</ttl>\n", $told['ttl']);
    }
}

/** sy:updatePeriod and sy:updateFrequency, which WordPress writes by itself. */
function dynamic_ttl_period($usual)
{
    $told = is_comment_feed() ? null : dynamic_ttl_now();
    return $told !== null && $told['period'] !== null ? $told['period'] : $usual;
}

function dynamic_ttl_frequency($usual)
{
    $told = is_comment_feed() ? null : dynamic_ttl_now();
    return $told !== null && $told['period'] !== null ? (string) $told['frequency'] : $usual;
}

/** Whether a request is for a feed of posts that everybody may see: no comments, no error, nobody with a password. */
function dynamic_ttl_concerns($query)
{
    $feed = isset($query['feed']) ? $query['feed'] : '';
    if (!in_array($feed, array('feed', 'rss', 'rss2', 'atom', 'rdf'), true) || is_404() || is_user_logged_in()
        || isset($_COOKIE['wp-postpass_' . COOKIEHASH])) { // it opens protected posts, in feeds too
        return false;
    }
    // With one of these WordPress answers with the comments of a post.
    $comments = array('withcomments', 'error', 'p', 'name', 'page_id', 'pagename', 'attachment', 'attachment_id');
    return array_filter(array_intersect_key($query, array_flip($comments))) === array();
}

/** Cache-Control and Expires of a feed, on 200 and 304: WordPress sends these headers with both. */
function dynamic_ttl_headers($headers, $request)
{
    if (!dynamic_ttl_concerns($request->query_vars)) {
        return $headers;
    }
    $told = dynamic_ttl_now();
    if ($told !== null) {
        $headers['Cache-Control'] = 'public, max-age=' . $told['max_age'];
        $headers['CDN-Cache-Control'] = 'max-age=60'; // no cache hides a post for as long as readers wait
        $headers['X-Accel-Expires'] = '60'; // the same for nginx
        $headers['Expires'] = gmdate('D, d M Y H:i:s', time() + $told['max_age']) . ' GMT';
    }
    return $headers;
}

/**
 * When the feed last changed, the ttl in it included: WordPress makes ETag and Last-Modified of it. Otherwise a
 * reader that goes by the element would be told 304 and keep last night's.
 */
function dynamic_ttl_modified($modified, $timezone)
{
    $told = strtolower($timezone) === 'gmt' ? dynamic_ttl_now() : null;
    $since = $told !== null ? gmdate('Y-m-d H:i:s', min($told['since'], time())) : '';
    return is_string($modified) && $since > $modified ? $since : $modified;
}

function dynamic_ttl_asked($request)
{
    if (dynamic_ttl_concerns($request->query_vars)) {
        add_filter('get_lastpostmodified', 'dynamic_ttl_modified', 10, 2);
        // What nginx, Apache and its brotli add to the ETag of what they compress: WordPress would never send 304.
        if (isset($_SERVER['HTTP_IF_NONE_MATCH'])) {
            $_SERVER['HTTP_IF_NONE_MATCH'] = str_replace(array('W/', '-gzip', '-br'), '', $_SERVER['HTTP_IF_NONE_MATCH']);
        }
    }
}

/**
 * A minute after a post, when the mirror has read it, the mirror is asked again; without an answer the old one holds.
 * The feed has changed also where a post was taken back, of which WordPress' date of the newest tells nothing.
 */
function dynamic_ttl_posted($new, $old, $post)
{
    $told = get_transient(DYNAMIC_TTL_KEPT);
    if (is_array($told) && $post->post_type === 'post' && in_array('publish', array($new, $old), true)) {
        $told['since'] = time();
        $told['valid_until'] = min($told['valid_until'], time() + MINUTE_IN_SECONDS);
        dynamic_ttl_keep($told);
    }
}

add_action('parse_request', 'dynamic_ttl_asked');
add_action('rss2_head', 'dynamic_ttl_element');
add_filter('rss_update_period', 'dynamic_ttl_period');
add_filter('rss_update_frequency', 'dynamic_ttl_frequency');
add_filter('wp_headers', 'dynamic_ttl_headers', 10, 2);
add_action('transition_post_status', 'dynamic_ttl_posted', 10, 3);
