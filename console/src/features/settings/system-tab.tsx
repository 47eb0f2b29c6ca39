import { Anchor, Stack, Text } from "@mantine/core";
import type { ConsolePriceList, SystemFacts } from "@sluice/contract";
import type { ReactNode } from "react";
import { useCall } from "../../api/use-call.ts";
import { formatDuration } from "../../client/format.ts";
import { CopyText } from "../../components/copy-button.tsx";
import { type Fact, Facts } from "../../components/facts.tsx";
import { Bytes, Count, Nothing, When } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t as catalogText } from "../../language/areas/catalog.ts";
import { Rich, t } from "../../language/areas/settings.ts";
import { useSession } from "../../session/session-context.tsx";
import { ProcessList } from "./process-list.tsx";

const everyMs = 5_000;

/** The live status of the gateway. */
export function SystemTab() {
  const system = useCall("system.show", { everyMs });
  const priceList = useCall("priceList.show", {});
  const { answer } = useSession();
  const facts = system.data;
  if (system.error !== null && facts === undefined) {
    return <ProblemAlert problem={system.error} onRetry={() => void system.refetch()} />;
  }
  return (
    <Stack gap="lg">
      {system.error !== null && <ProblemAlert problem={system.error} onRetry={() => void system.refetch()} />}
      <Stats label={t("settings.system.now")}>
        <Stat
          label={t("settings.system.ledger")}
          value={facts && <LedgerState facts={facts} />}
          hint={facts && <LagWords lag={facts.ledger.lag} />}
        />
        <Stat
          label={t("settings.system.uptime")}
          value={facts && formatDuration(Date.now() - facts.started_at)}
          hint={t("settings.system.uptimeHelp")}
        />
        <Stat
          label={t("settings.system.memory")}
          value={facts && <Bytes value={facts.memory_bytes} />}
          hint={t("settings.system.memoryHelp")}
        />
        <Stat
          label={t("settings.system.streams")}
          value={facts && <Count value={facts.streams_open} />}
          hint={t("settings.system.streamsHelp")}
        />
        <Stat
          label={t("settings.system.reservations")}
          value={facts && <Count value={facts.reservations_open} />}
          hint={t("settings.system.reservationsHelp")}
        />
        <Stat
          label={t("settings.system.database")}
          value={
            facts && (facts.database.size_bytes === null ? <Nothing /> : <Bytes value={facts.database.size_bytes} />)
          }
          hint={facts && t(`settings.system.databases.${facts.database.kind}`)}
        />
      </Stats>
      <ProcessList everyMs={everyMs} />
      <Section title={t("settings.system.installation")}>
        <Facts facts={[...factsOf(facts, answer.public_url), priceListFact(priceList.data)]} />
        <Text fz="xs" c="dimmed" mt="md">
          <Rich
            text="settings.system.monitoring"
            tags={{
              metrics: (inside) => <OutLink href="/metrics">{inside}</OutLink>,
              health: (inside) => <OutLink href="/healthz">{inside}</OutLink>,
              ready: (inside) => <OutLink href="/readyz">{inside}</OutLink>,
              code: (inside) => <code>{inside}</code>,
            }}
          />
        </Text>
      </Section>
    </Stack>
  );
}

function OutLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <Anchor href={href} target="_blank" rel="noreferrer" fz="xs">
      {children}
    </Anchor>
  );
}

function LedgerState({ facts }: { readonly facts: SystemFacts }) {
  return facts.ledger.healthy ? (
    <StatusBadge status="healthy" label={t("settings.system.writing")} />
  ) : (
    <StatusBadge status="down" label={t("settings.system.notWriting")} hint={t("settings.system.notWritingHelp")} />
  );
}

function LagWords({ lag }: { readonly lag: number }) {
  return lag === 0 ? t("settings.system.noLag") : t("settings.system.lag", { lag });
}

function factsOf(facts: SystemFacts | undefined, publicUrl: string): readonly Fact[] {
  return [
    { name: t("settings.system.version"), value: facts?.version ?? "…" },
    { name: t("settings.system.started"), value: facts === undefined ? "…" : <When at={facts.started_at} exact /> },
    { name: t("settings.system.entries"), value: facts === undefined ? "…" : <Count value={facts.ledger.entries} /> },
    {
      name: t("settings.system.publicUrl"),
      value: <CopyText value={publicUrl} label={t("settings.system.copyUrl")} />,
    },
  ];
}

/** The source and age of the price list. */
function priceListFact(priceList: ConsolePriceList | undefined): Fact {
  const name = catalogText("catalog.prices.title");
  if (priceList === undefined) return { name, value: "…" };
  const { source, age_days: days } = priceList;
  return { name, value: days === null ? source : catalogText("catalog.prices.age", { source, days }) };
}
