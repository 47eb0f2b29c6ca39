import type { Claim, Refused } from "#ports/index.ts";
import type { SharedReservation } from "../reservation.ts";

/**
 * Reserves what a leased reservation gets beside its shares. A budget that lets calls through when it cannot be counted gives more
 * then too, as it would to a new call.
 */
export async function annexed(
  claims: readonly Claim[],
  reserve: (claims: readonly Claim[]) => Promise<SharedReservation | Refused>,
): Promise<SharedReservation | Refused> {
  for (let asked = claims; ; ) {
    const answer = await reserve(asked);
    if (answer.granted || answer.reason !== "unknown") return answer;
    const refusing = asked[answer.index];
    if (refusing?.fail !== "open" || refusing.limit === Number.POSITIVE_INFINITY) return answer;
    asked = asked.map((claim) => (claim === refusing ? { ...claim, limit: Number.POSITIVE_INFINITY } : claim));
  }
}
