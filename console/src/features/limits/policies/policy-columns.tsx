import { Button, Group, Stack } from "@mantine/core";
import { type ConsoleBudgetPolicy, everyWorkspace } from "@sluice/contract";
import { useAct } from "../../../api/use-act.ts";
import { formatMoment, formatUsdShort } from "../../../client/format.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import type { Column } from "../../../components/data-table.tsx";
import { Nothing } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/limits.ts";
import { rowName } from "../../usage/row-names.ts";
import { kindWords } from "../limit-usage-words.ts";

interface PolicyColumnsOptions {
  readonly open: (id: string) => void;
  readonly mayChange: boolean;
}

export function policyColumns({ open, mayChange }: PolicyColumnsOptions): readonly Column<ConsoleBudgetPolicy>[] {
  return [
    {
      id: "name",
      header: t("limits.policy.name"),
      sortBy: ({ name }) => name,
      cell: (policy) => (
        <Group gap={6}>
          <b className="break">{policy.name}</b>
          <PolicyBadges policy={policy} />
        </Group>
      ),
    },
    { id: "window", header: t("limits.kind.title"), cell: windowWords },
    { id: "match", header: t("limits.policy.match"), cell: matchWords },
    { id: "used", header: t("limits.used"), cell: (policy) => <Used policy={policy} /> },
    {
      id: "do",
      header: t("limits.policy.actions"),
      quiet: true,
      cell: (policy) =>
        mayChange && !policy.inherited ? <PolicyActions policy={policy} onOpen={() => open(policy.id)} /> : null,
    },
  ];
}

function windowWords({ budget: { period, rolling = false, time_zone: zone } }: ConsoleBudgetPolicy): string {
  return kindWords({ kind: "budget", period, rolling, time_zone: zone ?? null });
}

/** `models: opus-*; tags: team=search` */
function matchWords({ match, split_by: split }: ConsoleBudgetPolicy): string {
  const { models = [], providers = [], tags = {} } = match;
  const counted = (["workspaces", "groups", "keys", "people"] as const).flatMap((member) =>
    match[member] === undefined ? [] : t(`limits.policy.count.${member}`, { count: match[member].length }),
  );
  const tagged = Object.entries(tags).map(([name, values]) => `${name}=${[values].flat().join("|")}`);
  const words = [...counted, ...models, ...providers, ...tagged];
  const calls = words.length === 0 ? t("limits.policy.everyCall") : words.join(", ");
  return split === null ? calls : t("limits.policy.splitWords", { calls, split });
}

function Used({ policy }: { readonly policy: ConsoleBudgetPolicy }) {
  const { used, limit, counters } = policy;
  if (policy.split_by === null) {
    return used === null ? <Nothing /> : <Amount used={used} limit={limit} exhausted={policy.exhausted} />;
  }
  if (counters.length === 0) return <Nothing />;
  const by = policy.split_by === "person" ? "person" : "tag";
  return (
    <Stack gap={2}>
      {counters.slice(0, 5).map((counter) => (
        <span key={counter.value}>
          {rowName({ id: counter.value, label: counter.label }, by)}:{" "}
          {counter.used === null ? <Nothing /> : <Amount {...counter} used={counter.used} />}
        </span>
      ))}
      {counters.length > 5 && <small>{t("limits.policy.more", { count: counters.length - 5 })}</small>}
    </Stack>
  );
}

interface AmountProps {
  readonly used: number;
  readonly limit: number;
  readonly exhausted: boolean;
}

function Amount({ used, limit, exhausted }: AmountProps) {
  const words = t("limits.usedOf", { used: formatUsdShort(used), limit: formatUsdShort(limit) });
  return (
    <span className="tabular nowrap" data-tone={exhausted ? "bad" : undefined}>
      {words}
    </span>
  );
}

function PolicyBadges({ policy }: { readonly policy: ConsoleBudgetPolicy }) {
  const { enabled, budget, inherited, exhausted, managed_by: owner } = policy;
  const { increase } = budget;
  return (
    <>
      {!enabled && <StatusBadge status="off" label={t("limits.policy.off")} />}
      {enabled && budget.enforce === false && (
        <StatusBadge status="shadow" tone="busy" label={t("limits.policy.shadow")} />
      )}
      {exhausted && <StatusBadge status="exhausted" tone="bad" label={t("limits.usage.exhausted")} />}
      {inherited && <StatusBadge status="above" tone="off" label={t("limits.policy.above")} />}
      {increase !== undefined && Date.parse(increase.until) > Date.now() && (
        <small>
          {t("limits.policy.increased", {
            amount: formatUsdShort(increase.usd),
            until: formatMoment(Date.parse(increase.until)),
            reason: increase.reason,
          })}
        </small>
      )}
      <ManagedByFile by={owner} />
    </>
  );
}

function PolicyActions({ policy, onOpen }: { readonly policy: ConsoleBudgetPolicy; readonly onOpen: () => void }) {
  const { id, name, managed_by: owner } = policy;
  const remove = useAct("budgets.remove", { invalidates: ["budgets.list"], done: t("limits.policy.removed") });
  const params = { workspace: policy.workspace?.slug ?? everyWorkspace, budget: id };
  const verb = owner === "console" ? t("limits.policy.edit") : t("limits.policy.view");
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button variant="default" size="compact-xs" aria-label={`${verb}: ${name}`} onClick={onOpen}>
        {verb}
      </Button>
      {owner !== "file" && (
        <ConfirmButton
          title={t("limits.policy.removeTitle", { name })}
          verb={t("limits.policy.remove")}
          label={t("limits.policy.remove")}
          size="compact-xs"
          onConfirm={() => remove.mutateAsync({ params })}
        >
          {t("limits.policy.removeHelp")}
        </ConfirmButton>
      )}
    </Group>
  );
}
