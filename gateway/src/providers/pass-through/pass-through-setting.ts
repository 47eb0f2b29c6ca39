import { type NanoUsd, type Provider, usdToNano } from "#core/index.ts";
import { isObject } from "#protocols/index.ts";

/** What an account says of calls that are passed through. */
export interface PassThroughSetting {
  /** What a call costs that no model's price is for; null: nobody has said it. */
  readonly pricePerCall: NanoUsd | null;
  /** Beginnings of paths that are refused beside the usual ones. */
  readonly deny: readonly string[];
}

export function passThroughOf({ settings }: Provider): PassThroughSetting {
  const said = settings["pass_through"];
  if (!isObject(said)) return nothingSaid;
  const { price_per_call: usd, deny } = said;
  return {
    pricePerCall: typeof usd === "number" ? usdToNano(usd) : null,
    deny: Array.isArray(deny) ? deny.filter((path) => typeof path === "string") : [],
  };
}

/** What is wrong with `settings.pass_through`; null when nothing is. */
export function passThroughProblem({ settings }: Provider): string | null {
  const said = settings["pass_through"];
  if (said === undefined || said === null || said === "") return null;
  const at = "settings.pass_through";
  if (!isObject(said)) return `${at} must be an object with price_per_call, deny or both`;
  const { price_per_call: usd, deny, ...rest } = said;
  const [strange] = Object.keys(rest);
  if (strange !== undefined) return `${at} has no member ${strange.slice(0, 64)}; it has price_per_call and deny`;
  if (usd !== undefined && !(typeof usd === "number" && usd >= 0 && usd <= pricePerCallMax)) {
    return `${at}.price_per_call must be an amount in USD, from 0 to ${pricePerCallMax}`;
  }
  if (deny === undefined) return null;
  const good =
    Array.isArray(deny) &&
    deny.length <= deniedMax &&
    deny.every((path) => typeof path === "string" && pathPattern.test(path));
  return good ? null : `${at}.deny must be a list of beginnings of paths, such as files or fine_tuning/jobs`;
}

const nothingSaid: PassThroughSetting = Object.freeze({ pricePerCall: null, deny: [] });
/** USD. As pico-USD it is still a whole number that is exact. */
const pricePerCallMax = 1_000;
const deniedMax = 100;
const pathPattern = /^\/?[\w.~-]+(?:\/[\w.~-]+)*\/?$/;
