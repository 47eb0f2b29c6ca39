import { Skeleton, Stack } from "@mantine/core";
import type { RehearsalWithResult } from "@sluice/contract";
import { useParams } from "@tanstack/react-router";
import { formatMoment } from "../../../client/format.ts";
import { CodeBlock } from "../../../components/code-block.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/rehearsals.ts";
import { changeWords } from "../change-words.ts";
import { RehearsalOutcome } from "../result/rehearsal-outcome.tsx";
import { useRehearsal } from "../use-rehearsal.ts";

const crumbs = [{ label: t("rehearsals.title"), link: { to: "/rehearsals", search: {} } }] as const;

export default function RehearsalPage() {
  const { rehearsal } = useParams({ from: "/rehearsals/$rehearsal" });
  return <OneRehearsal key={rehearsal} id={rehearsal} />;
}

function OneRehearsal({ id }: { readonly id: string }) {
  const { rehearsal, problem, reload, cancel, isCancelling } = useRehearsal(id);
  if (rehearsal === null) {
    return (
      <PageFrame title={t("rehearsals.one")} crumbs={crumbs}>
        {problem === null ? <Skeleton height={320} /> : <ProblemAlert problem={problem} onRetry={reload} />}
      </PageFrame>
    );
  }
  return (
    <PageFrame
      title={t("rehearsals.one")}
      crumbs={crumbs}
      badges={<StatusBadge status={rehearsal.state} />}
      description={aboutWords(rehearsal)}
    >
      {problem !== null && <ProblemAlert problem={problem} onRetry={reload} />}
      <Stack gap="md">
        <RehearsalOutcome rehearsal={rehearsal} onCancel={cancel} isCancelling={isCancelling} />
        <Section title={t("rehearsals.change.title")} description={t("rehearsals.change.help")}>
          <CodeBlock
            code={JSON.stringify(rehearsal.change, null, 2)}
            label={t("rehearsals.change.label")}
            maxHeight="24rem"
          />
        </Section>
      </Stack>
    </PageFrame>
  );
}

/** `acme/ci · Nov 23, 2026 – Nov 30, 2026` */
function aboutWords({ change, from, to }: RehearsalWithResult): string {
  return [changeWords(change), `${formatMoment(from)} – ${formatMoment(to)}`].join(" · ");
}
