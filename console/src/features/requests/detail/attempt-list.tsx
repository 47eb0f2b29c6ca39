import { Accordion, Group, Text } from "@mantine/core";
import type { AttemptDetail, RequestDetail } from "@sluice/contract";
import { Duration, Money } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/requests.ts";
import { AttemptFacts } from "./attempt-facts.tsx";
import { CostTable } from "./cost-table.tsx";
import { FoldedSection } from "./folded-section.tsx";
import { outcomeNote } from "./outcome-note.ts";

/** All attempts with their ledger data; the last one is expanded. */
export function AttemptList({ detail }: { readonly detail: RequestDetail }) {
  const { attempts, explanation } = detail;
  const failures = new Map(explanation?.failures.map((failure) => [failure.attempt_id, failure]));
  const last = attempts.at(-1);
  if (attempts.length === 1 && last !== undefined) {
    return (
      <>
        <FoldedSection
          title={t("requests.attempt.title")}
          open={last.outcome !== "succeeded" || last.warnings.length > 0}
        >
          <AttemptFacts attempt={last} failure={failures.get(last.attempt_id) ?? null} />
        </FoldedSection>
        {last.outcome !== "rejected" && (
          <FoldedSection title={t("requests.cost.title")}>
            <CostTable attempt={last} />
          </FoldedSection>
        )}
      </>
    );
  }
  return (
    <Section
      title={t("requests.attempt.list", { count: attempts.length })}
      description={t("requests.attempt.listHelp")}
      flush
    >
      <Accordion multiple defaultValue={last === undefined ? [] : [last.attempt_id]} keepMounted={false}>
        {attempts.map((attempt, place) => (
          <Accordion.Item key={attempt.attempt_id} value={attempt.attempt_id}>
            <Accordion.Control>
              <AttemptHead attempt={attempt} place={place} isLast={attempt === last} />
            </Accordion.Control>
            <Accordion.Panel>
              <AttemptFacts attempt={attempt} failure={failures.get(attempt.attempt_id) ?? null} />
              <Text fw={600} fz="sm" mt="md" mb={4} component="h3">
                {t("requests.cost.title")}
              </Text>
              <CostTable attempt={attempt} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Section>
  );
}

interface AttemptHeadProps {
  readonly attempt: AttemptDetail;
  readonly place: number;
  readonly isLast: boolean;
}

function AttemptHead({ attempt, place, isLast }: AttemptHeadProps) {
  return (
    <Group gap="xs" fz="sm">
      <span>
        {t("requests.attempt.head", {
          place: place + 1,
          provider: attempt.provider || t("requests.attempt.none"),
        })}
      </span>
      <StatusBadge status={attempt.outcome} label={outcomeNote(attempt, isLast)} />
      <Text span fz="xs" c="dimmed">
        <Duration ms={attempt.total_ms} /> · <Money usd={attempt.cost_usd} />
      </Text>
    </Group>
  );
}
