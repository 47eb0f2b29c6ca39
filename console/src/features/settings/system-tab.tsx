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
      <Stats label="The system now">
        <Stat
          label="Ledger"
          value={facts && <LedgerState facts={facts} />}
          hint={facts && <LagWords lag={facts.ledger.lag} />}
        />
        <Stat
          label="Up for"
          value={facts && formatDuration(Date.now() - facts.started_at)}
          hint="since it was started"
        />
        <Stat label="Memory" value={facts && <Bytes value={facts.memory_bytes} />} hint="of this process" />
        <Stat label="Streams open" value={facts && <Count value={facts.streams_open} />} hint="answers on their way" />
        <Stat
          label="Reservations open"
          value={facts && <Count value={facts.reservations_open} />}
          hint="of limits and budgets"
        />
        <Stat
          label="Database"
          value={
            facts && (facts.database.size_bytes === null ? <Nothing /> : <Bytes value={facts.database.size_bytes} />)
          }
          hint={facts && databaseWords[facts.database.kind]}
        />
      </Stats>
      <Section title="This installation">
        <Facts facts={factsOf(facts, answer.public_url)} />
        <Text fz="xs" c="dimmed" mt="md">
          For monitoring:{" "}
          <Anchor href="/metrics" target="_blank" rel="noreferrer" fz="xs">
            /metrics
          </Anchor>{" "}
          (Prometheus),{" "}
          <Anchor href="/healthz" target="_blank" rel="noreferrer" fz="xs">
            /healthz
          </Anchor>{" "}
          and{" "}
          <Anchor href="/readyz" target="_blank" rel="noreferrer" fz="xs">
            /readyz
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
    <StatusBadge
      status="down"
      label="Not writing"
      hint="The journal cannot be written, so no call is sent. Look at the disk: room, rights, health."
    />
  );
}

function LagWords({ lag }: { readonly lag: number }) {
  return lag === 0 ? "all in the database" : `${lag} not in the database yet`;
}

function factsOf(facts: SystemFacts | undefined, publicUrl: string): readonly Fact[] {
  return [
    { name: "Version", value: facts?.version ?? "…" },
    { name: "Started", value: facts === undefined ? "…" : <When at={facts.started_at} exact /> },
    { name: "Ledger entries", value: facts === undefined ? "…" : <Count value={facts.ledger.entries} /> },
    { name: "Callers reach it at", value: <CopyText value={publicUrl} label="Copy address" /> },
  ];
}
