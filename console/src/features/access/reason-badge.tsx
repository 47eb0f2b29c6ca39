import type { AccessReason } from "@sluice/contract";
import { StatusBadge, type Tone } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/access.ts";
import { kindOf, type ReasonKind, reasonWords } from "./reason-words.ts";

const tones: Readonly<Record<ReasonKind, Tone>> = { yes: "good", patterns: "off", state: "warn", availability: "bad" };

export function ReasonBadge({ reason }: { readonly reason: AccessReason }) {
  const { short } = reasonWords[reason];
  return (
    <StatusBadge
      status={reason}
      tone={tones[kindOf(reason)]}
      label={reason === "yes" ? short : t("access.no2", { short: lower(short) })}
    />
  );
}

function lower(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}
