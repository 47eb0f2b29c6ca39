import { bounds, tokenEndingName } from "#core/index.ts";
import type { Crossing, EndingToken, StoredNotice } from "#ports/index.ts";

const dayMs = 86_400_000;

/** Until when tokens must end to be told of now. */
export function tokensUntil(nowMs: number): number {
  return nowMs + Math.max(...bounds.tokenNoticeDays) * dayMs;
}

/**
 * Which service tokens end soon, as crossings of the days that are left (`percent`), by what each notice listens to: everything in its
 * workspace, or keys. Another end of the same token is told of anew.
 */
export function tokenEndings(
  notices: readonly StoredNotice[],
  tokens: readonly EndingToken[],
  nowMs: number,
): readonly (Crossing & { readonly silent: boolean })[] {
  const endings: (Crossing & { readonly silent: boolean })[] = [];
  for (const notice of notices) {
    if (!notice.enabled) continue;
    for (const token of tokens.filter((each) => listens(notice, each))) {
      const reached = bounds.tokenNoticeDays.filter((days) => token.expiresAt - nowMs <= days * dayMs);
      for (const days of reached) {
        endings.push({
          noticeId: notice.id,
          budget: tokenEndingName(token.keyId),
          periodStart: token.expiresAt,
          percent: days,
          label: token.name,
          usedUsd: 0,
          limitUsd: 0,
          silent: days !== Math.min(...reached),
        });
      }
    }
  }
  return endings;
}

function listens({ workspaceId, scope, scope_id }: StoredNotice, token: EndingToken): boolean {
  if (workspaceId !== token.workspaceId) return false;
  return scope === null || (scope === "key" && (scope_id === null || scope_id === token.keyId));
}
