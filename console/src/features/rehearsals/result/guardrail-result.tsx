import { Stack, Text } from "@mantine/core";
import type { RehearsalResult } from "@sluice/contract";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Nothing, When } from "../../../components/figures.tsx";
import { personText } from "../../../components/person-text.ts";
import { rowsOf } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/rehearsals.ts";
import { VerdictBadge } from "../../guardrails/check-columns.tsx";
import { RequestLink } from "./result-link.tsx";
import { guardrailSentence } from "./sentences.ts";

type Guardrail = RehearsalResult["guardrails"][number];

/** The findings of a guardrail in captured requests, and the number of requests that were examined. */
export function GuardrailResult({ guardrail }: { readonly guardrail: Guardrail }) {
  const { name, workspace, mode, not_run: notRun, types, captured, calls, requests } = guardrail;
  const title = t("rehearsals.guardrails.title", { name: workspace === null ? name : `${workspace.slug}/${name}` });
  return (
    <Section title={title} description={t(`rehearsals.guardrails.modes.${mode}`)}>
      <Stack gap="xs">
        {notRun !== null && <Text size="sm">{t("rehearsals.guardrails.notRun")}</Text>}
        {mode !== "removed" && notRun === null && (
          <>
            <Text fw={600}>{guardrailSentence(guardrail)}</Text>
            {types.length > 0 && (
              <Text size="sm">
                {t("rehearsals.guardrails.types", {
                  types: types.map(({ type, findings }) => `${findings} × ${type}`).join(", "),
                })}
              </Text>
            )}
            <Text size="sm">{t("rehearsals.guardrails.examined", { captured, missing: calls - captured })}</Text>
            {captured === 0 && (
              <Text size="sm" c="dimmed">
                {t("rehearsals.guardrails.noCaptures")}
              </Text>
            )}
          </>
        )}
        <Notes guardrail={guardrail} />
        {requests.length > 0 && (
          <DataTable
            label={t("rehearsals.guardrails.requests")}
            columns={columns}
            rows={rowsOf(requests)}
            rowKey={({ request_id: id }) => id}
            empty={null}
            pageSize={10}
          />
        )}
      </Stack>
    </Section>
  );
}

/** The results then, and why the numbers may be too low. */
function Notes({ guardrail }: { readonly guardrail: Guardrail }) {
  const { input, output, recorded, allowed, allowed_unknown: unclear } = guardrail;
  const { blocked, masked, flagged } = recorded;
  const notes = [
    ...(blocked + masked + flagged === 0 ? [] : [t("rehearsals.guardrails.recorded", recorded)]),
    ...(allowed === 0 ? [] : [t("rehearsals.guardrails.allowed", { count: allowed })]),
    ...(unclear === 0 ? [] : [t("rehearsals.guardrails.allowedUnknown", { count: unclear })]),
    ...(["redacted", "cut", "unreadable", "failed"] as const).flatMap((name) => {
      const count = input[name] + output[name];
      return count === 0 ? [] : [t(`rehearsals.guardrails.limits.${name}`, { count })];
    }),
  ];
  if (notes.length === 0) return null;
  return (
    <ul className="notes">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

const columns: readonly Column<Guardrail["requests"][number]>[] = [
  {
    id: "time",
    header: t("rehearsals.requests.time"),
    cell: ({ at, request_id: request, workspace }) => (
      <RequestLink request={request} workspace={workspace.slug}>
        <When at={at} exact />
      </RequestLink>
    ),
  },
  {
    id: "result",
    header: t("rehearsals.guardrails.result"),
    cell: ({ side, verdict }) => (
      <div>
        <VerdictBadge verdict={verdict} enforced />
        <Text fz="xs" c="dimmed">
          {t(`rehearsals.guardrails.sides.${side}`)}
        </Text>
      </div>
    ),
  },
  {
    id: "caller",
    header: t("rehearsals.guardrails.caller"),
    cell: ({ key, person }) => (
      <div>
        <div className="break">{key.name || key.id}</div>
        {person === null ? <Nothing /> : personText(person)}
      </div>
    ),
  },
];
