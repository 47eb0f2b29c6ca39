import { Select, Stack, Text } from "@mantine/core";
import type { ConsoleModel, UsageFigures } from "@sluice/contract";
import { formatCompact, formatDuration, formatShare, formatUsd } from "../../../client/format.ts";
import { Nothing } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { TimeRange } from "../../../components/time-range.tsx";
import { t } from "../../../language/areas/models.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useModels } from "../../catalog/use-models.ts";
import { errorRateOf } from "../../usage/measures.ts";
import { factsOf } from "./model-facts.tsx";
import { useModelUsage } from "./use-model-usage.ts";

const range = "7d";

/** Two models side by side: their price and facts, and their usage in the same range. */
export function ComparePanel({ model }: { readonly model: ConsoleModel }) {
  const models = useModels();
  const [name, choose] = useUrlText("with");
  const other = models.get(name);
  const choices = [...models.values()].filter((each) => each.name !== model.name && each.type === model.type);
  const one = useModelUsage(model.name, range).data?.totals;
  const two = useModelUsage(other?.name ?? "", range).data?.totals;
  return (
    <Section
      title={t("models.compare.title")}
      description={t("models.compare.help")}
      actions={<TimeRange fallback={range} />}
    >
      <Stack gap="md">
        <Select
          label={t("models.compare.with")}
          placeholder={choices.length === 0 ? t("models.fallbacks.noChoice") : t("models.choose")}
          maw="20rem"
          searchable
          limit={100}
          data={choices.map((each) => each.name)}
          value={other?.name ?? null}
          onChange={(chosen) => choose(chosen ?? "")}
        />
        {other === undefined ? (
          <Text size="sm" c="dimmed">
            {t("models.compare.choose")}
          </Text>
        ) : (
          <Comparison models={[model, other]} figures={[one, two]} />
        )}
      </Stack>
    </Section>
  );
}

interface ComparisonProps {
  readonly models: readonly [ConsoleModel, ConsoleModel];
  readonly figures: readonly (UsageFigures | undefined)[];
}

function Comparison({ models, figures }: ComparisonProps) {
  const facts = models.map((model) => new Map(factsOf(model)));
  const names = [...new Set(facts.flatMap((each) => [...each.keys()]))];
  return (
    <div className="sideways">
      <table className="plain-table compare-table" aria-label={t("models.compare.title")}>
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
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {models.map((model, place) => (
                <td key={model.name} className="break">
                  {facts[place]?.get(name) ?? <Nothing />}
                </td>
              ))}
            </tr>
          ))}
          {measured.map(({ label, words }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {models.map((model, place) => {
                const shown = figures[place];
                return <td key={model.name}>{(shown && words(shown)) ?? <Nothing />}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
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
