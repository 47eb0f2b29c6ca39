import { Button, MultiSelect, Stack, Text } from "@mantine/core";
import type { ConsoleModel, UsageFigures } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { formatCompact, formatDuration, formatShare, formatUsd } from "../../../client/format.ts";
import { Nothing } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { TimeRange } from "../../../components/time-range.tsx";
import { t } from "../../../language/areas/models.ts";
import { readNames, writeNames } from "../../../routes/name-list.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { priceItems } from "../../catalog/price-words.ts";
import { useModels } from "../../catalog/use-models.ts";
import { modelsMax, searchOfModels } from "../../playground/model-search.ts";
import { errorRateOf } from "../../usage/measures.ts";
import { factsOf } from "./model-facts.tsx";
import { useModelUsage } from "./use-model-usage.ts";

const range = "30d";

/** Up to four models side by side: their prices and facts, and their usage in the same range. */
export function ComparePanel({ model }: { readonly model: ConsoleModel }) {
  const workspace = useWorkspace();
  const models = useModels();
  const [names, choose] = useUrlText("with");
  const choices = [...models.values()].filter((each) => each.name !== model.name && each.type === model.type);
  const others = readNames(names, modelsMax - 1).flatMap((name) => choices.find((each) => each.name === name) ?? []);
  const compared = [model, ...others];
  const usage = [
    useModelUsage(model.name, range),
    useModelUsage(others[0]?.name ?? "", range),
    useModelUsage(others[1]?.name ?? "", range),
    useModelUsage(others[2]?.name ?? "", range),
  ];
  return (
    <Section
      title={t("models.compare.title")}
      description={t("models.compare.help")}
      actions={<TimeRange fallback={range} />}
    >
      <Stack gap="md">
        <MultiSelect
          label={t("models.compare.with")}
          placeholder={placeholder(choices.length, others.length)}
          maw="32rem"
          searchable
          limit={100}
          maxValues={modelsMax - 1}
          data={choices.map((each) => each.name)}
          value={others.map((each) => each.name)}
          onChange={(chosen) => choose(writeNames(chosen))}
        />
        {others.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t("models.compare.choose")}
          </Text>
        ) : (
          <Comparison models={compared} figures={usage.map(({ data }) => data?.totals)} />
        )}
        {others.length > 0 && model.type === "chat" && workspace.may("member") && (
          <Button
            variant="default"
            className="fit"
            renderRoot={(props) => (
              <Link to="/playground" search={searchOfModels(compared.map(({ name }) => name))} {...props} />
            )}
          >
            {t("models.compare.playground")}
          </Button>
        )}
      </Stack>
    </Section>
  );
}

function placeholder(choices: number, chosen: number): string {
  if (choices === 0) return t("models.fallbacks.noChoice");
  return chosen === 0 ? t("models.choose") : "";
}

interface ComparisonProps {
  readonly models: readonly ConsoleModel[];
  readonly figures: readonly (UsageFigures | undefined)[];
}

function Comparison({ models, figures }: ComparisonProps) {
  const columns = models.map(rowsOf);
  const labels = [...new Set(columns.flatMap((rows) => [...rows.keys()]))];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section className="sideways" tabIndex={0} aria-label={t("models.compare.table")}>
      <table className="plain-table compare-table" aria-label={t("models.compare.table")}>
        <thead>
          <tr>
            <td />
            {models.map(({ name }) => (
              <th key={name} scope="col" className="break">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.map((label) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {models.map(({ name }, place) => (
                <td key={name} className="break">
                  {columns[place]?.get(label) ?? <Nothing />}
                </td>
              ))}
            </tr>
          ))}
          {measured.map(({ label, words }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {models.map(({ name }, place) => {
                const shown = figures[place];
                return <td key={name}>{(shown && words(shown)) ?? <Nothing />}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Facts, the price of each class, and for administrators the deployments. */
function rowsOf(model: ConsoleModel): ReadonlyMap<string, string> {
  const rows = new Map(factsOf(model));
  for (const { label, words } of priceItems(model.price)) {
    // Two variants may have the same label.
    const before = rows.get(label);
    rows.set(label, before === undefined ? words : `${before}, ${words}`);
  }
  // Only administrators receive deployments.
  const served = model.deployments?.filter(({ enabled }) => enabled).map(({ provider }) => provider) ?? [];
  if (served.length > 0) rows.set(t("models.tabs.serving"), served.join(", "));
  return rows;
}

interface Measured {
  readonly label: string;
  /** null: no requests. */
  readonly words: (figures: UsageFigures) => string | null;
}

const measured: readonly Measured[] = [
  { label: t("models.usage.requests"), words: ({ requests }) => formatCompact(requests) },
  { label: t("models.usage.cost"), words: ({ cost_usd: cost }) => formatUsd(cost) },
  {
    label: t("models.compare.costEach"),
    words: ({ cost_usd: cost, requests }) => (requests === 0 ? null : formatUsd(cost / requests)),
  },
  { label: t("models.usage.median"), words: ({ request_latency_p50_ms: ms }) => time(ms) },
  { label: t("models.usage.slow"), words: ({ request_latency_p95_ms: ms }) => time(ms) },
  { label: t("models.compare.firstToken"), words: ({ request_first_token_p50_ms: ms }) => time(ms) },
  { label: t("models.usage.errorRate"), words: (figures) => share(errorRateOf(figures)) },
  { label: t("models.compare.cacheReads"), words: ({ cache_read_share: cached }) => share(cached) },
];

function time(ms: number | null): string | null {
  return ms === null ? null : formatDuration(ms);
}

function share(value: number | null): string | null {
  return value === null ? null : formatShare(value);
}
