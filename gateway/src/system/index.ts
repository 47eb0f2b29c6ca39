/**
 * system: time, ids and chance as the machine gives them, behind the ports Clock, Ids and Chance.
 *
 * systemClock   wall time that may jump, a monotonic time that does not, and one-shot timers of any length.
 * steadyClock   a wall clock that a hand which sets it for a moment does not move; for money.
 * createIds     `att_01KX4…`: 10 characters of milliseconds, 4 of a counter, 12 of randomness, in Crockford base32.
 *               Sorted as text they are in the order they were made, also when the wall clock is set back.
 * systemChance  ordinary chance for jitter and weights; never for secrets.
 *
 * Nothing here waits, opens or can be down.
 */
export * from "./steady-clock.ts";
export * from "./system-chance.ts";
export * from "./system-clock.ts";
export * from "./time-ordered-ids.ts";
