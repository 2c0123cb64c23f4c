"""The ttl decision: from the times of past updates to the minutes that a feed says.

Theory of operation

1. What is kept (`counts`, `activity`). Each update adds one to four tables: 24 hours of the day, 7
   weekdays, 168 hours of the week, 288 five minutes of the day, all on the author's clock (Winer
   2002: "a persistent array of 24 elements"). Counts halve every 90 days, c(t) = sum 2^-(age / H),
   and so does the time in which they were gathered, d(t) = H / ln 2 * (1 - 2^-(watched / H)) days.
   One of 12 counts what came in the first five seconds of each five minutes of the hour.
   Two more tables say, by how long it had been silent, how many updates came (`seen`) and how many
   the hours of the week had let expect (`due`); these fade twice as fast.

2. What is expected (`counts`, `forecast`). A rate is a count over d(t), drawn to a simpler rate by
   a few updates' weight (empirical Bayes with fixed priors), as small counts say little:
       hour      r_h = (c_h + 1/4 / 24) / d                        a quarter of an update a day
       weekday   f_w = (c_w + 1) / (mean c_w + 1)
       cell      r_hw = (c_hw + k r_h f_w) / (d / 7 + k)           k weeks, more where c_hw is small
       minutes   within each hour a pattern, drawn to that of all hours, and that to flat
       silence   g_a = (seen_a + 5) / (due_a + 5), for a silence of class a (0 min .. 8 days)
   The silence's factor g holds until the first update only (after it, the usual rate): a renewal
   process is approximated, not an ever faster Poisson process. Integrated over five-minute steps
   this gives N(t), the updates expected by t, and W(t) = integral of N, their waiting (`Curve`).
   These habits are one of four forecasters (`mixture`): the others are 24 hours with a half-life of
   12 days, a constant rate, and that rate over a day as people have it. They are mixed by their
   likelihood: w_m <- w_m * rate_m(update) * exp(-what m expected in the silence), normalised, and
   half a per cent of all belief is handed out anew, so that hours that move are found in days;
   what has less than 2 % of the belief is left out of the forecast.

3. What a ttl costs. A copy fetched at s and kept a minutes costs one poll, worth P minutes of one
   update's delay, and the waiting of what it hides:
       cost(s, a) = P + integral from s to s + a of rate(u) (s + a - u) du
                  = P + W(s + a) - W(s) - a N(s)                                      (`hides`)
   At a constant rate the best a is sqrt(2 P / rate), where the hidden waiting is P again.

4. How a ttl is chosen (`choice`, `planner`). In warm-up (5 updates, 2 days) Winer's rule: less
   than 1 h since the last update 15 minutes, less than 3 h 60, else 480. Afterwards
       look-ahead  the largest ttl of the menu whose hidden waiting is at most P;
       planned     the ttl that begins the cheapest chain of fetches, worked out backwards over 30
                   hours (dynamic programming over quarters of an hour; a semi-Markov decision).
   Both take the mean over all minutes at which this document may be fetched: until the next hour.
   With a coarse menu a blog whose best interval lies between two values would alternate between
   them, so P is moved most of the way to where that menu works best (`poll_worth`), searched from a
   level of updates a day that follows the rate at a distance of up to three times it. The day's
   shape has a say in this as far as the counts of its hours lie further apart than chance lets
   equal hours; the more even it is, the more the smaller of the two values is preferred.

5. What the headers say (`freshness`). Cache-Control and Expires of each answer say the same
   forecast to the minute of the fetch, planned backwards over five-minute steps without a menu:
       V(i) = min over j of  P + hidden(i, j) + V(j),     15 minutes <= 5 (j - i) <= 24 hours,
   one expiry for each five minutes of the document's hour, twelve in all, so that a poll costs no
   work. What is said is a minute less; at most an hour on an answer that brings a new post. Where
   a share s >= 1/4 of the updates of step j comes in its first five seconds, an expiry at j is
   five seconds after it, and who polls there has N(j) + s (N(j + 1) - N(j)) already; an expiry is
   set so as well in warm-up.

6. What surrounds it (`decision`, `reasons`, `skip_hours`, `harmless_hours`). The document is built
   at g, the later of the last update and the top of the local hour, from updates up to g. A
   scheduled post is certain, so it caps the ttl. Everything that was weighed is kept in the
   `Decision`, for `explain`. How soon readers would have a post follows from what they are told
   (`when_to_publish`).

Sources: Dave Winer, "Algorithm for ttl element" (2002); RSS 2.0 (ttl, skipHours); Cho and
Garcia-Molina, "Estimating frequency of change" (2003) for rates from counts;
Herbster and Warmuth, "Tracking the best expert" (1998); Howard, "Dynamic
programming and Markov processes" (1960). `docs/evidence.md` has what each part is worth.

`counts`, `forecast`, `planner` and `choice` are plain functions over indexable numbers and named
tuples: the live site runs them on lists, the simulator compiles the very same functions.
"""
