import { Progress } from "@mantine/core";
import type { LimitUsageRow } from "@sluice/contract";
import { formatShare, formatUsdShort } from "../../client/format.ts";
import { t } from "../../language/areas/limits.ts";
import { kindWords, nameOf, shareOf, toneOf, usedExactly, usedWords } from "./limit-usage-words.ts";

/** The usage of a limit as a bar with figures: spent, and reserved for requests in flight. */
export function Meter({ row }: { readonly row: LimitUsageRow }) {
  const share = shareOf(row);
  const held = row.held ?? 0;
  const heldShare = row.limit === 0 ? 0 : held / row.limit;
  const whole = Math.min(100, share * 100);
  const reserved = Math.min(whole, heldShare * 100);
  const heldWords = held > 0 ? t("limits.usage.held", { held: formatUsdShort(held) }) : null;
  const label = t("limits.usedOfScope", {
    scope: row.scope,
    kind: kindWords(row),
    name: nameOf(row),
    used: usedWords(row),
  });
  return (
    <div className="meter" data-tone={toneOf(row)}>
      <div className="meter-words tabular" title={[usedExactly(row), heldWords].filter(Boolean).join(" · ")}>
        <span>{usedWords(row)}</span>
        <span>{row.used === null ? "–" : formatShare(share)}</span>
      </div>
      <Progress.Root size={6}>
        <Progress.Section
          value={whole - reserved}
          color="var(--tone)"
          aria-label={heldWords === null ? label : `${label}. ${heldWords}`}
        />
        {reserved > 0 && (
          <Progress.Section value={reserved} color="var(--tone)" className="meter-held" withAria={false} />
        )}
      </Progress.Root>
      {heldWords !== null && <div className="meter-note">{heldWords}</div>}
    </div>
  );
}
