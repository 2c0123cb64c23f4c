<?php
// WordPress, played: the functions that the plugin may call, and no others. An unknown one is a fatal
// error of PHP itself. The scenario comes as JSON on standard input, what was said goes out as JSON.
error_reporting(E_ALL);
set_error_handler(function ($level, $message) {
    fwrite(STDERR, $message . "\n");
    exit(9);
});
define('ABSPATH', '/');
define('MINUTE_IN_SECONDS', 60);
define('HOUR_IN_SECONDS', 3600);
define('DAY_IN_SECONDS', 86400);
define('COOKIEHASH', 'c0ffee');

class WP_Error
{
}

$scenario = json_decode(stream_get_contents(STDIN), true);
$_COOKIE = $scenario['cookies'];
$_SERVER['HTTP_IF_NONE_MATCH'] = addslashes($scenario['tag']); // WordPress does that to all of $_SERVER
$hooks = array();
$transients = $scenario['transients'];
$asked = array();
if ($scenario['source'] !== null) {
    define('DYNAMIC_TTL_SOURCE', $scenario['source']);
}

function add_action(...$arguments)
{
    add_filter(...$arguments);
}

function add_filter($hook, $function, $priority = 10, $arguments = 1)
{
    global $hooks;
    if (!function_exists($function) || (new ReflectionFunction($function))->getNumberOfParameters() > $arguments) {
        exit(8);
    }
    $hooks[$hook][] = $function;
}

function is_comment_feed()
{
    global $scenario;
    return $scenario['comments'];
}

function is_404()
{
    global $scenario;
    return $scenario['missing'];
}

function is_user_logged_in()
{
    global $scenario;
    return $scenario['logged_in'];
}

function get_transient($name)
{
    global $transients;
    return isset($transients[$name]) ? $transients[$name] : false;
}

function set_transient($name, $value, $seconds)
{
    global $transients;
    if ($seconds < 1) {
        exit(7);
    }
    $transients[$name] = $value;
    return true;
}

function delete_transient($name)
{
    global $transients;
    unset($transients[$name]);
    return true;
}

function wp_remote_get($url, $options)
{
    global $asked, $scenario;
    if (!isset($options['timeout'], $options['limit_response_size']) || $options['timeout'] > 3) {
        exit(6);
    }
    $asked[] = $url;
    return $scenario['reply'] === null ? new WP_Error() : $scenario['reply'];
}

function is_wp_error($thing)
{
    return $thing instanceof WP_Error;
}

function wp_remote_retrieve_response_code($reply)
{
    return $reply['code'];
}

function wp_remote_retrieve_body($reply)
{
    return $reply['body'];
}

require $argv[1];

function filtered($hook, $value, ...$more)
{
    global $hooks;
    foreach ($hooks[$hook] as $function) {
        $value = $function($value, ...$more);
    }
    return $value;
}

foreach ($hooks['parse_request'] as $function) {
    $function((object) array('query_vars' => $scenario['query']));
}
$modified = isset($hooks['get_lastpostmodified'])
    ? array_map(fn ($zone) => filtered('get_lastpostmodified', '2024-11-01 09:00:00', $zone), array('GMT', 'blog'))
    : null;
ob_start();
foreach ($hooks['rss2_head'] as $function) {
    $function();
}
$head = ob_get_clean();
$period = filtered('rss_update_period', 'hourly');
$frequency = filtered('rss_update_frequency', '1');
$headers = array('Content-Type' => 'application/rss+xml; charset=UTF-8', 'ETag' => '"x"');
$feed = filtered('wp_headers', $headers, (object) array('query_vars' => $scenario['query']));
$page = filtered('wp_headers', array('Content-Type' => 'text/html; charset=UTF-8'), (object) array('query_vars' => array()));
$kept = $transients;
foreach ($hooks['transition_post_status'] as $function) {
    foreach ($scenario['transitions'] as list($new, $old, $type)) {
        $function($new, $old, (object) array('post_type' => $type));
    }
}
echo json_encode(array(
    'head' => $head, 'period' => $period, 'frequency' => $frequency, 'feed' => $feed, 'page' => $page,
    'asked' => $asked, 'kept' => $kept, 'after_post' => $transients, 'hooks' => array_keys($hooks),
    'now' => time(), 'modified' => $modified, 'tag' => stripslashes($_SERVER['HTTP_IF_NONE_MATCH']),
));
