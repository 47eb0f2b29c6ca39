import { Group, Text } from "@mantine/core";
import type { ConsoleGuardrail } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useCall } from "../../api/use-call.ts";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/guardrails.ts";
import { GuardrailBadges } from "./guardrail-columns.tsx";
import { findsWords, scopeWords } from "./guardrail-words.ts";

interface AppliedGuardrailsProps {
  /** A slug. */
  readonly workspace: string;
  /** Ids. Only guardrails of calls with this group and key; left out: all of the workspace. */
  readonly of?: { readonly group: string; readonly key?: string };
}

/** The guardrails that apply to a key, a group or a workspace. */
export function AppliedGuardrails({ workspace, of }: AppliedGuardrailsProps) {
  const query = useCall("guardrails.list", { params: { workspace } });
  const guardrails = query.data?.data.filter((guardrail) => isInUse(guardrail) && applies(guardrail, of));
  return (
    <Section
      title={t("guardrails.applied.title")}
      description={t("guardrails.applied.help")}
      actions={
        <Link to="/guardrails" search={{ workspace }} className="text-link section-link">
          {t("guardrails.applied.all")}
        </Link>
      }
    >
      {query.error !== null && <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />}
      {guardrails?.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("guardrails.applied.none")}
        </Text>
      )}
      {guardrails !== undefined && guardrails.length > 0 && (
        <ul className="plain-list applied-guardrails">
          {guardrails.map((guardrail) => (
            <li key={guardrail.id}>
              <Group gap={6} fz="sm">
                <b className="break">{guardrail.name}</b>
                <GuardrailBadges guardrail={guardrail} />
              </Group>
              <Text size="xs" c="dimmed">
                {[t(`guardrails.actions.${guardrail.action}`), findsWords(guardrail), scopeWords(guardrail)].join(
                  " · ",
                )}
              </Text>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function isInUse({ enabled, managed_by: owner }: ConsoleGuardrail): boolean {
  return enabled && owner !== "suspended";
}

/** A list of workspaces in the answer contains only the one on the page. */
function applies(guardrail: ConsoleGuardrail, of: AppliedGuardrailsProps["of"]): boolean {
  if (of === undefined || guardrail.all_calls || guardrail.workspaces.length > 0) return true;
  return guardrail.groups.includes(of.group) || (of.key !== undefined && guardrail.keys.includes(of.key));
}
