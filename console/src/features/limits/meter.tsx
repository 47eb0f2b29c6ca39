import { Progress } from "@mantine/core";
import type { LimitUsageRow } from "@sluice/contract";
import { formatShare } from "../../client/format.ts";
import { t } from "../../language/areas/limits.ts";
import { kindWords, nameOf, shareOf, toneOf, usedExactly, usedWords } from "./limit-usage-words.ts";

/** The usage of a limit, as a bar with figures. */
export function Meter({ row }: { readonly row: LimitUsageRow }) {
  const share = shareOf(row);
  return (
    <div className="meter" data-tone={toneOf(row)}>
      <div className="meter-words tabular" title={usedExactly(row)}>
        <span>{usedWords(row)}</span>
        <span>{row.used === null ? "–" : formatShare(share)}</span>
      </div>
      <Progress
        value={Math.min(100, share * 100)}
        color="var(--tone)"
        size={6}
        aria-label={t("limits.usedOfScope", {
          scope: row.scope,
          kind: kindWords(row),
          name: nameOf(row),
          used: usedWords(row),
        })}
      />
    </div>
  );
}
