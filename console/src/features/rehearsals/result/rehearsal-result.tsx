import { Stack, Text } from "@mantine/core";
import type { RehearsalResult } from "@sluice/contract";
import { formatUsdShort } from "../../../client/format.ts";
import type { Span } from "../../../components/calendar-ranges.ts";
import { Chart } from "../../../components/chart.tsx";
import { Facts } from "../../../components/facts.tsx";
import { Count, Money, When } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { t } from "../../../language/areas/rehearsals.ts";
import "../../../styles/access.css";
import { AffectedSection } from "./affected-section.tsx";
import { stepsOf } from "./chart-steps.ts";
import { GuardrailResult } from "./guardrail-result.tsx";
import { limitNames, objectWords } from "./limit-names.ts";
import { usdOf } from "./money.ts";
import { MovedSection } from "./moved-section.tsx";
import { RefusedRequests } from "./refused-requests.tsx";
import { RequestLink, RequestsLink } from "./result-link.tsx";
import { sentencesOf } from "./sentences.ts";

interface RehearsalResultProps {
  readonly result: RehearsalResult;
  readonly span: Span;
}

const minuteMs = 60_000;

/** The effect of the change on past requests: a sentence, then figures, charts and lists. */
export function RehearsalResultView({ result, span }: RehearsalResultProps) {
  const [sentence, ...more] = sentencesOf(result);
  return (
    <Stack gap="md">
      <div role="status">
        <Text size="lg" fw={600}>
          {sentence}
        </Text>
        {more.map((each) => (
          <Text key={each} size="sm">
            {each}
          </Text>
        ))}
      </div>
      {result.calls > 0 && (
        <>
          <Totals result={result} />
          <Charts result={result} span={span} />
          <Moments result={result} />
          <AffectedSection result={result} />
          {result.moved.length > 0 && <MovedSection moved={result.moved} />}
          {result.requests.length > 0 && <RefusedRequests result={result} />}
        </>
      )}
      {result.guardrails.map((guardrail) => (
        <GuardrailResult key={`${guardrail.workspace?.slug}/${guardrail.name}`} guardrail={guardrail} />
      ))}
      {result.unknown.length > 0 && <Unknown unknown={result.unknown} />}
    </Stack>
  );
}

function Totals({ result }: Pick<RehearsalResultProps, "result">) {
  return (
    <Stats label={t("rehearsals.figures.label")}>
      <Stat
        label={t("rehearsals.figures.refused")}
        value={<Count value={result.refused} />}
        hint={<RequestsLink filter={{}}>{t("rehearsals.figures.ofRequests", { calls: result.calls })}</RequestsLink>}
      />
      <Stat label={t("rehearsals.figures.costThen")} value={<Money usd={usdOf(result.recorded_nano_usd)} short />} />
      <Stat label={t("rehearsals.figures.cost")} value={<Money usd={usdOf(result.rehearsed_nano_usd)} short />} />
      <Stat
        label={t("rehearsals.figures.difference")}
        value={<Money usd={usdOf(result.difference_nano_usd)} short />}
      />
    </Stats>
  );
}

function Charts({ result, span }: RehearsalResultProps) {
  const { stepMs, at, refused, recorded, rehearsed } = stepsOf(result.hours, span);
  return (
    <>
      {result.refused > 0 && (
        <Section title={t("rehearsals.chart.refused")}>
          <Chart
            kind="bar"
            label={t("rehearsals.chart.refused")}
            at={at}
            stepMs={stepMs}
            height={180}
            series={[{ id: "refused", label: t("rehearsals.figures.refused"), values: refused }]}
          />
        </Section>
      )}
      {usdOf(result.difference_nano_usd) !== 0 && (
        <Section title={t("rehearsals.chart.cost")}>
          <Chart
            kind="line"
            label={t("rehearsals.chart.cost")}
            at={at}
            stepMs={stepMs}
            height={180}
            format={formatUsdShort}
            series={[
              { id: "recorded", label: t("rehearsals.figures.costThen"), values: recorded, quiet: true },
              { id: "rehearsed", label: t("rehearsals.figures.cost"), values: rehearsed },
            ]}
          />
        </Section>
      )}
    </>
  );
}

function Moments({ result: { first, worst } }: Pick<RehearsalResultProps, "result">) {
  if (first === null || worst === null) return null;
  return (
    <Section title={t("rehearsals.moments.title")}>
      <Facts
        facts={[
          {
            name: t("rehearsals.moments.first"),
            value: (
              <>
                <RequestLink request={first.request_id} workspace={first.workspace.slug}>
                  <When at={first.at} exact />
                </RequestLink>{" "}
                {first.limit === "guardrail"
                  ? t("rehearsals.moments.byGuardrail", { object: objectWords(first) })
                  : t("rehearsals.moments.byLimit", { limit: limitNames[first.limit], object: objectWords(first) })}
              </>
            ),
            wide: true,
          },
          {
            name: t("rehearsals.moments.worst"),
            value: (
              <>
                <RequestsLink filter={{}} from={worst.at} to={worst.at + minuteMs}>
                  <When at={worst.at} exact />
                </RequestsLink>{" "}
                {t("rehearsals.moments.worstCount", { count: worst.refused })}
              </>
            ),
            wide: true,
          },
        ]}
      />
    </Section>
  );
}

function Unknown({ unknown }: Pick<RehearsalResult, "unknown">) {
  return (
    <Section title={t("rehearsals.unknown.title")}>
      <ul className="notes">
        {unknown.map(({ code, calls }) => (
          <li key={code}>
            {t(`rehearsals.unknown.${code}`)}
            {calls > 0 && ` (${t("rehearsals.unknown.count", { count: calls })})`}
          </li>
        ))}
      </ul>
    </Section>
  );
}
