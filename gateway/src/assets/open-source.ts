import { asFailure, bounds } from "#core/index.ts";
import type { Clock, OutboundAnswer, Transport } from "#ports/index.ts";
import { type Refusal, refused, refusedForNow } from "./asset-refusal.ts";
import { fetchProblem, nextAddress } from "./web-address.ts";

/** The whole fetch of an asset from its address, and its redirects. */
const assetFetchMs = 120_000;
const assetMovesMax = 3;

/** Answers after which the same question may be answered better. */
const passing: ReadonlySet<number> = new Set([408, 421, 425, 429]);
const moved: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Asks for the bytes at a caller's address. It comes from outside, so it is never let into a private network, and one that
 * moves is followed a few times, through the guard each time. Whoever gets the answer must end or cancel its body.
 */
export async function openSource(
  address: string,
  { transport, clock }: { readonly transport: Transport; readonly clock: Clock },
  signal: AbortSignal,
): Promise<OutboundAnswer | Refusal> {
  const problem = fetchProblem(address);
  if (problem !== null) return refused("fetch_failed", `The address ${problem}.`);
  const endMs = clock.monotonic() + assetFetchMs;
  let url = withoutFragment(address);
  for (let moves = 0; moves <= assetMovesMax; moves++) {
    const leftMs = endMs - clock.monotonic();
    if (leftMs <= 0) break;
    const answer = await ask(url, leftMs, transport, signal);
    if (!("body" in answer)) return answer;
    if (!moved.has(answer.status)) return judged(answer);
    answer.body.cancel();
    const next = nextAddress(url, answer.headers.get("location") ?? "");
    if ("problem" in next) return refused("fetch_failed", `The address ${next.problem}.`);
    url = withoutFragment(next.url);
  }
  return refused("fetch_failed", `The address moves more than ${assetMovesMax} times.`);
}

async function ask(
  url: string,
  totalMs: number,
  transport: Transport,
  signal: AbortSignal,
): Promise<OutboundAnswer | Refusal> {
  try {
    return await transport.send(
      {
        method: "GET",
        url,
        headers: { accept: "*/*", "user-agent": "sluice" },
        body: null,
        connectMs: bounds.assetConnectMs,
        headersMs: bounds.assetHeadersMs,
        totalMs,
        allowPrivateNetwork: false,
      },
      signal,
    );
  } catch (thrown) {
    return broken(thrown);
  }
}

/**
 * The transport's failures, told without what they say of our side: the message is for whoever gave the address. What the guard
 * refuses, it refuses the next time too.
 */
export function broken(thrown: unknown): Refusal {
  const { code, accountFault } = asFailure(thrown);
  if (accountFault === "url" || accountFault === "private_address" || accountFault === "forbidden_address") {
    return refused("fetch_failed", "The host's address is not a public one.");
  }
  if (code === "upstream_timeout") return refusedForNow("fetch_failed", "The host did not answer in time.");
  if (code === "upstream_truncated") return refusedForNow("fetch_failed", "The host broke off before the end.");
  return refusedForNow("fetch_failed", "The host could not be reached.");
}

function judged(answer: OutboundAnswer): OutboundAnswer | Refusal {
  const { status, headers, body } = answer;
  const encoding = headers.get("content-encoding") ?? "identity";
  if (status === 200 && encoding.toLowerCase() === "identity") return answer;
  body.cancel();
  if (status === 200) return refused("fetch_failed", "The host sent it compressed, though it was asked not to.");
  const message = `The host answered with status ${status}.`;
  return status >= 500 || passing.has(status)
    ? refusedForNow("fetch_failed", message)
    : refused("fetch_failed", message);
}

/** A fragment is the reader's own and is never sent. */
function withoutFragment(address: string): string {
  const url = new URL(address);
  url.hash = "";
  return url.href;
}
