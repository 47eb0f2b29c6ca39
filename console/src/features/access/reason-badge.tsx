import type { AccessReason } from "@sluice/contract";
import { StatusBadge, type Tone } from "../../components/status-badge.tsx";
import { kindOf, type ReasonKind, shortReason } from "./reason-words.ts";

const tones: Readonly<Record<ReasonKind, Tone>> = { yes: "good", patterns: "off", state: "warn", availability: "bad" };

export function ReasonBadge({ reason }: { readonly reason: AccessReason }) {
  return <StatusBadge status={reason} tone={tones[kindOf(reason)]} label={shortReason(reason)} />;
}
