import { Anchor, Button, Text } from "@mantine/core";
import { IconDownload, IconExternalLink, IconPhoto } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import type { Problem } from "../../../client/problem.ts";
import { EmptyState } from "../../../components/empty-state.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { extensionOf } from "../../media/data-url.ts";
import { formatElapsed } from "../../media/task-words.ts";
import { CallFacts, RequestLink } from "../call-facts.tsx";
import type { Picture, PictureRun } from "./picture-run.ts";

interface PictureRunsProps {
  readonly runs: readonly PictureRun[];
  readonly workspace: string;
  readonly running: boolean;
  /** Fields of the form that show their own errors. */
  readonly marked: Problem | null;
  readonly onClear: () => void;
}

export function PictureRuns({ runs, workspace, running, marked, onClear }: PictureRunsProps) {
  return (
    <Section
      title={t("playground.image.results")}
      description={t("playground.image.resultsHelp")}
      actions={
        runs.length > 0 && (
          <Button variant="subtle" size="compact-xs" disabled={running} onClick={onClear}>
            {t("playground.run.clear")}
          </Button>
        )
      }
    >
      {runs.length === 0 && (
        <EmptyState icon={<IconPhoto />} title={t("playground.image.none")}>
          {t("playground.image.noneHelp")}
        </EmptyState>
      )}
      <div className="runs">
        {runs.map((run) => (
          <article key={run.id} className="run" aria-busy={run.state === "running"}>
            <Text size="sm" className="break" lineClamp={3}>
              {run.prompt}
            </Text>
            {run.state === "running" && <Waiting since={run.startedAt} />}
            {run.state === "stopped" && (
              <Text size="xs" c="dimmed">
                {t("playground.run.stopped")}
              </Text>
            )}
            {run.problem !== null && run.problem !== marked && <ProblemAlert problem={run.problem} />}
            {run.info === null && run.problem?.requestId != null && (
              <div className="call-facts">
                <RequestLink workspace={workspace} requestId={run.problem.requestId} />
              </div>
            )}
            <div className="pictures">
              {run.pictures.map((picture, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: they come in an order and keep it.
                <PictureView key={at} picture={picture} name={`picture-${run.id}-${at + 1}`} alt={run.prompt} />
              ))}
            </div>
            {run.info !== null && <CallFacts workspace={workspace} info={run.info} totalMs={run.totalMs} />}
          </article>
        ))}
      </div>
    </Section>
  );
}

function PictureView({
  picture,
  name,
  alt,
}: {
  readonly picture: Picture;
  readonly name: string;
  readonly alt: string;
}) {
  const { url, address, revisedPrompt } = picture;
  return (
    <figure className="picture">
      {url !== null && <img src={url} alt={alt} />}
      <figcaption>
        {revisedPrompt !== null && (
          <Text size="xs" c="dimmed" lineClamp={3} title={revisedPrompt}>
            {t("playground.image.revised", { revisedPrompt })}
          </Text>
        )}
        {url !== null ? (
          <Anchor href={url} download={`${name}.${extensionOf(url)}`} size="xs" className="icon-link">
            <IconDownload size={14} aria-hidden /> {t("playground.run.download")}
          </Anchor>
        ) : (
          address !== null && (
            <>
              <Text size="xs" c="dimmed">
                {t("playground.image.remote")}
              </Text>
              <Anchor href={address} target="_blank" rel="noreferrer noopener" size="xs" className="icon-link">
                <IconExternalLink size={14} aria-hidden /> {t("playground.image.open")}
              </Anchor>
            </>
          )
        )}
      </figcaption>
    </figure>
  );
}

/** Generating pictures takes a while, so the elapsed seconds are shown. */
function Waiting({ since }: { readonly since: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className="picture-waiting" role="status">
      <span className="unseen">{t("playground.image.generating")}</span>
      <span aria-hidden>{t("playground.image.elapsed", { elapsed: formatElapsed(Math.max(0, now - since)) })}</span>
    </div>
  );
}
