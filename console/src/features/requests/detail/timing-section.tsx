import type { AttemptDetail } from "@sluice/contract";
import { Section } from "../../../components/section.tsx";
import { Waterfall } from "../../../components/waterfall.tsx";
import { t } from "../../../language/areas/requests.ts";
import { spansOf } from "./timing.ts";

export function TimingSection({ attempts }: { readonly attempts: readonly AttemptDetail[] }) {
  const spans = spansOf(attempts);
  const sent = attempts.some((attempt) => attempt.upstream_ms !== null);
  if (!sent || spans.length === 0) return null;
  return (
    <Section title={t("requests.timing.title")}>
      <Waterfall label={t("requests.timing.chart")} spans={spans} />
    </Section>
  );
}
