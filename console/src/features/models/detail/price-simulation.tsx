import { Loader, SegmentedControl, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type AnswerOf, type PriceConfig, priceSchema } from "@sluice/contract";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useClient } from "../../../api/call-context.tsx";
import { formatCount, formatShare, formatUsd } from "../../../client/format.ts";
import { asProblem, type Problem } from "../../../client/problem.ts";
import { Money } from "../../../components/figures.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { rangeLengths } from "../../../components/use-time-range.ts";
import { Rich, t } from "../../../language/areas/models.ts";
import { models } from "../../../language/en/models.ts";
import { remarks } from "../../../language/remark.ts";
import { useUrlText } from "../../../routes/search.ts";
import { classLabel, isUnpriced, unitPriceWords } from "../../catalog/price-words.ts";

interface PriceSimulationProps {
  readonly model: string;
  readonly price: PriceConfig;
  /** Whether it differs from the current price. */
  readonly isChanged: boolean;
}

const ranges = { "24h": "day", "7d": "week", "30d": "month" } as const;
const rangeChoices = [
  { value: "24h", label: t("models.simulation.day") },
  { value: "7d", label: t("models.simulation.week") },
  { value: "30d", label: t("models.simulation.month") },
];
const quietMs = 400;
const roundMs = 60_000;

/** The cost of recent usage at the price in the form. */
export function PriceSimulation({ model, price, isChanged }: PriceSimulationProps) {
  const [asked, setRange] = useUrlText("over", "7d");
  const range = asked === "24h" || asked === "30d" ? asked : "7d";
  const simulation = useSimulation(model, price, range);
  return (
    <Section
      title={t("models.simulation.title")}
      description={t("models.simulation.help")}
      actions={
        <SegmentedControl
          data={rangeChoices}
          value={range}
          onChange={setRange}
          aria-label={t("models.simulation.period")}
        />
      }
    >
      {simulation.error !== null && <ProblemAlert problem={simulation.error} onRetry={() => simulation.refetch()} />}
      {simulation.error === null && simulation.data === undefined && (
        <Loader size="xs" aria-label={t("models.simulation.loading")} />
      )}
      {simulation.data !== undefined && simulation.error === null && (
        <div className="simulation" data-stale={simulation.isPlaceholderData || undefined}>
          {isUnpriced(price) ? (
            <Text size="sm" c="dimmed">
              {t("models.simulation.noPrice", { range: ranges[range] })}
            </Text>
          ) : (
            <Outcome answer={simulation.data} range={ranges[range]} isChanged={isChanged} />
          )}
        </div>
      )}
    </Section>
  );
}

/** Requested shortly after the last key press, and only for valid prices. */
function useSimulation(model: string, price: PriceConfig, range: keyof typeof ranges) {
  const call = useClient();
  const [now] = useState(() => Math.ceil(Date.now() / roundMs) * roundMs);
  const [settled] = useDebouncedValue(price, quietMs);
  const span = { from: now - rangeLengths[range], to: now };
  return useQuery<AnswerOf<"models.simulate">, Problem>({
    queryKey: ["models.simulate", model, settled, span],
    queryFn: async ({ signal }) => {
      try {
        return await call("models.simulate", { params: { model }, body: { price: settled, ...span }, signal });
      } catch (thrown) {
        throw asProblem(thrown);
      }
    },
    enabled: priceSchema.safeParse(settled).success,
    placeholderData: keepPreviousData,
  });
}

interface OutcomeProps {
  readonly answer: AnswerOf<"models.simulate">;
  readonly range: (typeof ranges)[keyof typeof ranges];
  readonly isChanged: boolean;
}

function Outcome({ answer, range, isChanged }: OutcomeProps) {
  const { requests, cost_usd, simulated_usd, lines, notes, remarks: coded } = answer;
  if (requests === 0 && lines.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t("models.simulation.unused", { range })}
      </Text>
    );
  }
  return (
    <Stack gap="md">
      <Text aria-live="polite">
        <Rich
          text={isChanged ? "models.simulation.changed" : "models.simulation.current"}
          tags={{ b: (inside) => <strong>{inside}</strong> }}
          values={{
            range,
            requests,
            simulated: formatUsd(simulated_usd),
            charged: formatUsd(cost_usd),
            difference: differenceWords(simulated_usd, cost_usd),
          }}
        />
      </Text>
      {lines.length > 0 && <CostTable lines={lines} total={simulated_usd} />}
      {notes.length > 0 && (
        <ul className="notes">
          {notes.map((note, at) => (
            <li key={note}>{noteWords(named(coded[at]), note)}</li>
          ))}
        </ul>
      )}
    </Stack>
  );
}

const noteWords = remarks(t, "models.simulation.remark", models.simulation.remark);
type SimulationRemark = AnswerOf<"models.simulate">["remarks"][number];

/** Adds the translated name of the usage class. */
function named(remark: SimulationRemark | undefined): SimulationRemark | undefined {
  const name = remark?.params["class"];
  if (remark === undefined || name === undefined) return remark;
  return { ...remark, params: { ...remark.params, class: classLabel(String(name)) } };
}

interface CostTableProps {
  readonly lines: AnswerOf<"models.simulate">["lines"];
  readonly total: number;
}

function CostTable({ lines, total }: CostTableProps) {
  return (
    <div className="sideways">
      <table className="cost-table">
        <thead>
          <tr>
            <th scope="col">{t("models.simulation.class")}</th>
            <th scope="col">{t("models.simulation.units")}</th>
            <th scope="col">{t("models.price.title")}</th>
            <th scope="col">{t("models.simulation.cost")}</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.class}>
              <th scope="row">{classLabel(line.class)}</th>
              <td>{formatCount(line.units)}</td>
              <td>{unitPriceWords(line.class, line.unit_usd)}</td>
              <td>
                <Money usd={line.usd} aligned />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{t("models.simulation.total")}</th>
            <td />
            <td />
            <td>
              <Money usd={total} aligned />
            </td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

const hardlyAny = 0.0005;

/** " (12% more)"; empty if the cost is the same. */
function differenceWords(now: number, before: number): string {
  if (before === 0) return "";
  const share = now / before - 1;
  if (Math.abs(share) < hardlyAny) return "";
  const values = { share: formatShare(Math.abs(share)) };
  return ` ${share > 0 ? t("models.simulation.more", values) : t("models.simulation.less", values)}`;
}
