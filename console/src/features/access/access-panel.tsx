import { Skeleton, Stack, Text } from "@mantine/core";
import type { AccessCheck } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { Drawer } from "../../components/drawer.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Rich, t } from "../../language/areas/access.ts";
import { AccessChange } from "./access-change.tsx";
import { AccessSteps } from "./access-steps.tsx";
import { ReasonBadge } from "./reason-badge.tsx";
import { reasonWords } from "./reason-words.ts";

export interface AccessQuestion {
  readonly key: string;
  readonly model: string;
}

interface AccessPanelProps {
  /** A slug. */
  readonly workspace: string;
  /** null: closed. */
  readonly question: AccessQuestion | null;
  /** The key's group, if available, for its link. */
  readonly group: string | null;
  readonly onClose: () => void;
}

/** Why one key may or may not call one model, step by step, and where to change it. */
export function AccessPanel({ workspace, question, group, onClose }: AccessPanelProps) {
  return (
    <Drawer opened={question !== null} onClose={onClose} title={t("access.panel.title")} size="md">
      {question !== null && <Answer workspace={workspace} question={question} group={group} />}
    </Drawer>
  );
}

interface AnswerProps {
  readonly workspace: string;
  readonly question: AccessQuestion;
  readonly group: string | null;
}

function Answer({ workspace, question: { key, model }, group }: AnswerProps) {
  const check = useCall("access.check", { params: { workspace, key }, query: { model } });
  if (check.error !== null) return <ProblemAlert problem={check.error} onRetry={() => void check.refetch()} />;
  if (check.data === undefined) return <Waiting />;
  return (
    <Stack gap="lg">
      <Verdict check={check.data} />
      <AccessSteps check={check.data} />
      <AccessChange check={check.data} workspace={workspace} group={group} />
      {check.data.fallbacks.length > 0 && <Fallbacks check={check.data} />}
    </Stack>
  );
}

function Verdict({ check }: { readonly check: AccessCheck }) {
  return (
    <Stack gap={6}>
      <Text size="sm" className="break">
        <Rich
          text="access.panel.subject"
          values={{ key: check.key.name, model: check.model }}
          tags={{ b: (inside) => <b>{inside}</b> }}
        />
      </Text>
      <div>
        <ReasonBadge reason={check.reason} />
      </div>
      <Text size="sm">{reasonWords[check.reason]}</Text>
    </Stack>
  );
}

function Fallbacks({ check }: { readonly check: AccessCheck }) {
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {t("access.fallback.title")}
      </Text>
      <ul className="plain-list">
        {check.fallbacks.map(({ model, allowed }) => (
          <li key={model}>
            <Text size="sm" component="span" className="break">
              {allowed ? t("access.fallback.allowed", { model }) : t("access.fallback.denied", { model })}
            </Text>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Waiting() {
  return (
    <Stack gap="md" aria-busy="true">
      <Skeleton height={16} width="70%" />
      <Skeleton height={64} />
      <Skeleton height={64} />
      <Skeleton height={64} />
    </Stack>
  );
}
