"""The ttl decision: from the times of past updates to the ttl that a feed announces, in minutes.

Theory of operation

1. What is stored (`counts`, `activity`). Each update adds one to four tables: 24 hours of the day,
   7 weekdays, 168 hours of the week, 288 five-minute slots of the day, all on the author's clock
   (Winer 2002: "a persistent array of 24 elements"). Counts decay with a half-life H of 90 days,
   c(t) = sum 2^-(age / H), and so does the observed time, d(t) = H / ln 2 * (1 - 2^-(watched / H))
   days. A table of 12 counts updates in the first five seconds of each five minutes of the hour.
   Two more tables hold, by the length of the silence before, the updates that came (`seen`) and
   those that the rates of the hours of the week predicted (`due`); they decay twice as fast.

2. What is expected (`counts`, `forecast`). A rate is a count over d(t), shrunk towards a simpler
   rate by a prior of one update (empirical Bayes with a fixed prior), as small counts say little;
   for weekdays and cells it is one lump, l = 2 m - 1 updates where they come in clusters of m:
       hour      r_h = (c_h + 1 / 24) / d
       weekday   f_w = (c_w + l) / (mean c_w + l)
       cell      r_hw = (c_hw + k r_h f_w) / (d / 7 + k)         k = l weeks, more if c_hw is small
       minutes   a pattern within each hour, shrunk towards that of all hours, and that to flat
       silence   g_a = (seen_a + 1) / (due_a + 1), for a silence of class a (0 min .. 7 days)
       cluster   m = (n + 1) / (n - f + 1), where n of the silences ended and f of them within 80
                 minutes, beyond what is due (not below 0). The variance of the number of updates
                 in a time is l times its mean then, if the sizes of clusters are geometric.
   The silence factor g applies until the first update only; that counts as m updates, and the usual
   rate follows: this approximates a renewal process of clusters. Integrated over five-minute steps
   it gives N(t), the updates expected by t, and W(t) = integral of N, their accumulated waiting
   (`Curve`).
   These habits are one of four forecasters (`mixture`): the others are 24 hours with a half-life
   of 12 days, a constant rate, and that rate shaped like a typical human day. Their weights follow
   their likelihood: w_m <- w_m * rate_m(update) * exp(-updates that m expected in the silence),
   normalised; a silence is counted hour by hour for two weeks, what is longer at the mean rate of
   these. At each update 0.5 % of all weight is redistributed, so that a change of hours is found in
   days. Forecasters with a weight below 2 % are left out of the forecast.

3. What a ttl costs. A copy fetched at s and kept for a minutes costs one poll, worth P minutes of
   one update's delay, and the waiting of the updates that it hides:
       cost(s, a) = P + integral from s to s + a of rate(u) (s + a - u) du
                  = P + W(s + a) - W(s) - a N(s)                                      (`hides`)
   At a constant rate the best a is sqrt(2 P / rate), where the hidden waiting is P again.

4. How a ttl is chosen (`choice`, `planner`). In warm-up (until 5 updates and 2 days)
   by Winer's rule: 15 minutes if the last update is less than 1 h ago, 60 if less than 3 h, else
   480. Then by
       look-ahead  the largest ttl of the menu whose hidden waiting is at most P;
       winer       his rule after the warm-up too (`winer`): 24 counters that never decay, read
                   forwards; it uses no other part of this page;
       planned     the ttl that begins the cheapest chain of fetches, computed backwards over 30
                   hours (dynamic programming over quarters of an hour; a semi-Markov decision).
   All average over all minutes at which this document may be fetched: until the next hour.
   P is what the owner said (`poll_minutes`), here as in the headers.

5. What the headers say (`headers`). Cache-Control and Expires of each response use the same
   forecast at the minute of the fetch, planned backwards over five-minute steps without a menu:
       V(i) = min over j of  P + hidden(i, j) + V(j),     15 minutes <= 5 (j - i) <= 24 hours.
   There is one expiry for each five minutes of the document's hour, twelve in all, so that a poll
   computes nothing. The max-age sent is a minute less, and at most an hour with a new post. Where
   a share s of the updates of step j comes in its first five seconds, an expiry at j is moved five
   seconds later, and a client that polls then has N(j) + s (N(j + 1) - N(j)) already.
   Expiries in warm-up are moved too: readers that keep the minute at which they began (CommaFeed)
   keep a good one.

6. What surrounds it (`decision`). The document is built at g, the later of the last update and the
   top of the local hour, from updates up to g. A scheduled post is certain, so it caps the ttl. The
   `Decision` keeps every number that was compared; `core.reasons` explains it to people, with what
   `core.habits` says of the author. What readers make of it is in `core.replay`.

Sources: Dave Winer, "Algorithm for ttl element" (2002); RSS 2.0 (ttl, skipHours); Cho and
Garcia-Molina, "Estimating frequency of change" (2003) for rates from counts;
Herbster and Warmuth, "Tracking the best expert" (1998); Howard, "Dynamic
programming and Markov processes" (1960). `docs/evidence.md` measures the effect of each part.

All but `activity` and `decision` are plain functions over indexable numbers and named
tuples: the live site runs them on lists, the simulator compiles the same functions.
"""
