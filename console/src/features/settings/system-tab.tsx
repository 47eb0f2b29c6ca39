import { Anchor, Stack, Text } from "@mantine/core";
import type { SystemFacts } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { formatDuration } from "../../client/format.ts";
import { CopyText } from "../../components/copy-button.tsx";
import { type Fact, Facts } from "../../components/facts.tsx";
import { Bytes, Count, Nothing, When } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/settings.ts";
import { useSession } from "../../session/session-context.tsx";

const everyMs = 5_000;

/** How the gateway itself is, while one looks. */
export function SystemTab() {
  const system = useCall("system.show", { everyMs });
  const { answer } = useSession();
  const facts = system.data;
  if (system.error !== null && facts === undefined) {
    return <ProblemAlert problem={system.error} onRetry={() => void system.refetch()} />;
  }
  return (
    <Stack gap="lg">
      {system.error !== null && <ProblemAlert problem={system.error} onRetry={() => void system.refetch()} />}
      <Stats label={t("settings.theSystemNow")}>
        <Stat
          label={t("settings.ledger")}
          value={facts && <LedgerState facts={facts} />}
          hint={facts && <LagWords lag={facts.ledger.lag} />}
        />
        <Stat
          label={t("settings.upFor")}
          value={facts && formatDuration(Date.now() - facts.started_at)}
          hint={t("settings.sinceItWasStarted")}
        />
        <Stat
          label={t("settings.memory")}
          value={facts && <Bytes value={facts.memory_bytes} />}
          hint={t("settings.ofThisProcess")}
        />
        <Stat
          label={t("settings.streamsOpen")}
          value={facts && <Count value={facts.streams_open} />}
          hint={t("settings.answersOnTheirWay")}
        />
        <Stat
          label={t("settings.reservationsOpen")}
          value={facts && <Count value={facts.reservations_open} />}
          hint={t("settings.ofLimitsAndBudgets")}
        />
        <Stat
          label={t("settings.database")}
          value={
            facts && (facts.database.size_bytes === null ? <Nothing /> : <Bytes value={facts.database.size_bytes} />)
          }
          hint={facts && databaseWords[facts.database.kind]}
        />
      </Stats>
      <Section title={t("settings.thisInstallation")}>
        <Facts facts={factsOf(facts, answer.public_url)} />
        <Text fz="xs" c="dimmed" mt="md">
          For monitoring:{" "}
          <Anchor href="/metrics" target="_blank" rel="noreferrer" fz="xs">
            {t("settings.metrics")}
          </Anchor>{" "}
          (Prometheus),{" "}
          <Anchor href="/healthz" target="_blank" rel="noreferrer" fz="xs">
            {t("settings.healthz")}
          </Anchor>{" "}
          and{" "}
          <Anchor href="/readyz" target="_blank" rel="noreferrer" fz="xs">
            {t("settings.readyz")}
          </Anchor>
          . <code>sluice doctor</code> on the command line checks everything at once.
        </Text>
      </Section>
    </Stack>
  );
}

const databaseWords = { sqlite: "SQLite, in a file", postgres: "PostgreSQL" } as const;

function LedgerState({ facts }: { readonly facts: SystemFacts }) {
  return facts.ledger.healthy ? (
    <StatusBadge status="healthy" />
  ) : (
    <StatusBadge status="down" label={t("settings.notWriting")} hint={t("settings.theJournalCannotBeWritten")} />
  );
}

function LagWords({ lag }: { readonly lag: number }) {
  return lag === 0 ? t("settings.allInTheDatabase") : t("settings.notInTheDatabaseYet", { lag });
}

function factsOf(facts: SystemFacts | undefined, publicUrl: string): readonly Fact[] {
  return [
    { name: "Version", value: facts?.version ?? "…" },
    { name: "Started", value: facts === undefined ? "…" : <When at={facts.started_at} exact /> },
    { name: "Ledger entries", value: facts === undefined ? "…" : <Count value={facts.ledger.entries} /> },
    { name: "Callers reach it at", value: <CopyText value={publicUrl} label={t("settings.copyAddress")} /> },
  ];
}
