import { Text } from "@mantine/core";
import type { GuardrailCheckRow } from "@sluice/contract";
import { guardrailVerdicts } from "@sluice/contract/words";
import type { Column } from "../../components/data-table.tsx";
import { Duration } from "../../components/figures.tsx";
import { StatusBadge, type Tone } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/guardrails.ts";

const tones: Readonly<Record<GuardrailCheckRow["verdict"], Tone>> = {
  blocked: "bad",
  masked: "busy",
  flagged: "off",
  failed: "warn",
};

export function VerdictBadge({ verdict, enforced }: Pick<GuardrailCheckRow, "verdict" | "enforced">) {
  return (
    <StatusBadge status={verdict} tone={enforced ? tones[verdict] : "off"} label={verdictWord(verdict, enforced)} />
  );
}

/** `Blocked (shadow mode)` */
export function verdictWord(text: string, enforced: boolean): string {
  const verdict = guardrailVerdicts.find((each) => each === text);
  const word = verdict === undefined ? text : t(`guardrails.verdicts.${verdict}`);
  return enforced ? word : t("guardrails.findings.shadow", { verdict: word });
}

/** `github_token, 2 × email`, with parts that could not be masked or read, and the error of a failed check. */
function foundWords({ counts, unmasked, unreadable, error }: GuardrailCheckRow): string {
  return [
    ...Object.entries(counts).map(([type, count]) => (count === 1 ? type : `${count} × ${type}`)),
    ...(unmasked === 0 ? [] : [t("guardrails.findings.unmasked", { count: unmasked })]),
    ...(unreadable === 0 ? [] : [t("guardrails.findings.unreadable", { count: unreadable })]),
    ...(error === null ? [] : [error]),
  ].join(", ");
}

/** The columns of a check on the page of its request. */
export const checkColumns: readonly Column<GuardrailCheckRow>[] = [
  {
    id: "guardrail",
    header: t("guardrails.findings.guardrail"),
    cell: ({ guardrail, side }) => (
      <div>
        <b className="break">{guardrail.name}</b>
        <Text fz="xs" c="dimmed">
          {t(`guardrails.sides.${side}`)}
        </Text>
      </div>
    ),
  },
  {
    id: "result",
    header: t("guardrails.findings.result"),
    cell: ({ verdict, enforced }) => <VerdictBadge verdict={verdict} enforced={enforced} />,
  },
  { id: "found", header: t("guardrails.findings.found"), cell: foundWords },
  {
    id: "places",
    header: t("guardrails.findings.places"),
    cell: ({ paths }) => <span className="break">{paths.join(", ")}</span>,
  },
  {
    id: "duration",
    header: t("guardrails.findings.duration"),
    cell: ({ duration_ms: ms }) => <Duration ms={ms} />,
  },
];
