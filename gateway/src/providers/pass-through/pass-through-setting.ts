import { type NanoUsd, type Provider, usdToNano } from "#core/index.ts";
import { isObject } from "#protocols/index.ts";

export interface PassThroughSetting {
  /** The price of a call without a model's price; null: not set. */
  readonly pricePerCall: NanoUsd | null;
  /** Path prefixes that are denied in addition. */
  readonly deny: readonly string[];
}

export function passThroughOf({ settings }: Provider): PassThroughSetting {
  const setting = settings["pass_through"];
  if (!isObject(setting)) return defaults;
  const { price_per_call: usd, deny } = setting;
  return {
    pricePerCall: typeof usd === "number" ? usdToNano(usd) : null,
    deny: Array.isArray(deny) ? deny.filter((path) => typeof path === "string") : [],
  };
}

/** A problem with `settings.pass_through`; null if there is none. */
export function passThroughProblem({ settings }: Provider): string | null {
  const value = settings["pass_through"];
  if (value === undefined || value === null || value === "") return null;
  const at = "settings.pass_through";
  if (!isObject(value)) return `${at} must be an object with price_per_call, deny or both`;
  const { price_per_call: usd, deny, ...rest } = value;
  const [unknownName] = Object.keys(rest);
  if (unknownName !== undefined)
    return `${at} has no member ${unknownName.slice(0, 64)}; it has price_per_call and deny`;
  if (usd !== undefined && !(typeof usd === "number" && usd >= 0 && usd <= pricePerCallMax)) {
    return `${at}.price_per_call must be an amount in USD, from 0 to ${pricePerCallMax}`;
  }
  if (deny === undefined) return null;
  const isValid =
    Array.isArray(deny) &&
    deny.length <= deniedMax &&
    deny.every((path) => typeof path === "string" && pathPattern.test(path));
  return isValid ? null : `${at}.deny must be a list of path prefixes, such as files or fine_tuning/jobs`;
}

const defaults: PassThroughSetting = Object.freeze({ pricePerCall: null, deny: [] });
/** USD. Still exact as an integer of pico-USD. */
const pricePerCallMax = 1_000;
const deniedMax = 100;
const pathPattern = /^\/?[\w.~-]+(?:\/[\w.~-]+)*\/?$/;
