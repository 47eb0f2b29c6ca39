import type { BudgetConfig } from "@sluice/contract";
import { budgetPeriods } from "@sluice/contract/words";
import { InvalidArgumentError } from "commander";
import { isHost } from "#config/index.ts";
import { isAddressRange } from "#core/index.ts";

/** Parsers of option values. Each returns the value or throws InvalidArgumentError. */

export function portNumber(text: string): number {
  return wholeNumber(text, 0, 65_535);
}

export function positiveInteger(text: string): number {
  return wholeNumber(text, 1, 1_000_000_000_000);
}

export function hostName(text: string): string {
  if (isHost(text)) return text;
  throw new InvalidArgumentError("It must be an IP address or a host name.");
}

/** Splits `a,b`; the option may be repeated. */
export function nameList(text: string, earlier: readonly string[] = []): readonly string[] {
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length === 0) throw new InvalidArgumentError("It must name at least one.");
  return [...earlier, ...names];
}

export function addressList(text: string, earlier: readonly string[] = []): readonly string[] {
  const ranges = nameList(text);
  if (ranges.every(isAddressRange)) return [...earlier, ...ranges];
  throw new InvalidArgumentError("It must be an IP address or a range such as 10.0.0.0/8.");
}

/** `50/month` as USD per period; `50/total` never resets; `5/rolling-hour` counts the last 60 minutes. */
export function budget(text: string): BudgetConfig {
  const match = /^(\d{1,7}(?:\.\d{1,9})?)\/(rolling-)?([a-z]+)$/.exec(text);
  const period = budgetPeriods.find((each) => each === match?.[3]);
  const rolling = match?.[2] !== undefined;
  if (period !== undefined && !(rolling && period === "total")) {
    return { usd: Number(match?.[1]), period, ...(rolling ? { rolling } : {}) };
  }
  throw new InvalidArgumentError(
    "It must be USD in a period, such as 50/month (hour, day, week, month, total, or rolling-hour to rolling-month).",
  );
}

/** A duration from now (`12h`, `90d`, `8w`) or a date (`2030-01-31`, `2030-01-31T12:00:00Z`), as Unix milliseconds. */
export function expiry(text: string, now: number): number {
  const at = fromNow(text, now) ?? fromDate(text);
  if (at === null)
    throw new InvalidArgumentError("It must be a time from now such as 90d, or a date such as 2030-01-31.");
  if (at <= now) throw new InvalidArgumentError("It must be in the future.");
  return at;
}

/** `30m`, `24h`, `7d`: at most thirty days, in milliseconds. */
export function graceTime(text: string): number {
  const ms = fromNow(text, 0);
  if (ms !== null && ms <= graceMsMax) return ms;
  throw new InvalidArgumentError("It must be a time such as 30m, 24h or 7d, at most 30d.");
}

const graceMsMax = 30 * 86_400_000;

/** A date or a time, as Unix milliseconds. */
export function pointInTime(text: string): number {
  const at = fromDate(text);
  if (at === null)
    throw new InvalidArgumentError("It must be a date such as 2030-01-31 or a time such as 2030-01-31T12:00:00Z.");
  return at;
}

/** A date, as `2026-11-30`. */
export function calendarDay(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && fromDate(text) !== null) return text;
  throw new InvalidArgumentError("It must be a date such as 2026-11-30.");
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

function fromNow(text: string, now: number): number | null {
  const match = /^(\d{1,6})([mhdw])$/.exec(text);
  const ms = unitMs[match?.[2] ?? ""];
  return ms === undefined ? null : now + Number(match?.[1]) * ms;
}

/** A date without a time is midnight UTC; a time needs a zone. */
function fromDate(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

function wholeNumber(text: string, min: number, max: number): number {
  const number = /^\d{1,13}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
}
