import { Progress } from "@mantine/core";
import type { LimitUsageRow } from "@sluice/contract";
import { formatShare } from "../../client/format.ts";
import { kindWords, nameOf, shareOf, toneOfShare, usedExactly, usedWords } from "./limit-usage-words.ts";

/** How far a limit is used, as a bar with its figures. */
export function Meter({ row }: { readonly row: LimitUsageRow }) {
  const share = shareOf(row);
  return (
    <div className="meter" data-tone={toneOfShare(share)}>
      <div className="meter-words tabular" title={usedExactly(row)}>
        <span>{usedWords(row)}</span>
        <span>{row.used === null ? "–" : formatShare(share)}</span>
      </div>
      <Progress
        value={Math.min(100, share * 100)}
        color="var(--tone)"
        size={6}
        aria-label={`${kindWords(row)} of ${row.scope} ${nameOf(row)}: ${usedWords(row)}`}
      />
    </div>
  );
}
