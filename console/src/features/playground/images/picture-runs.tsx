import { Anchor, Button, Text } from "@mantine/core";
import { IconDownload, IconExternalLink, IconPhoto } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { EmptyState } from "../../../components/empty-state.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { extensionOf } from "../../media/data-url.ts";
import { formatElapsed } from "../../media/task-words.ts";
import { CallFacts, RequestLink } from "../call-facts.tsx";
import type { Picture, PictureRun } from "./picture-run.ts";

interface PictureRunsProps {
  readonly runs: readonly PictureRun[];
  readonly workspace: string;
  readonly running: boolean;
  readonly onClear: () => void;
}

export function PictureRuns({ runs, workspace, running, onClear }: PictureRunsProps) {
  return (
    <Section
      title="Pictures"
      description="The newest first. They stay in this tab: download what you want to keep."
      actions={
        runs.length > 0 && (
          <Button variant="subtle" size="compact-xs" disabled={running} onClick={onClear}>
            Clear
          </Button>
        )
      }
    >
      {runs.length === 0 && (
        <EmptyState icon={<IconPhoto />} title="No picture yet">
          Write what it should show. It appears here with what it took and what it cost.
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
                You stopped it. The provider may charge for it all the same.
              </Text>
            )}
            {run.problem !== null && <ProblemAlert problem={run.problem} />}
            {run.told === null && run.problem?.requestId != null && (
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
            {run.told !== null && <CallFacts workspace={workspace} told={run.told} totalMs={run.totalMs} />}
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
            Made from: {revisedPrompt}
          </Text>
        )}
        {url !== null ? (
          <Anchor href={url} download={`${name}.${extensionOf(url)}`} size="xs" className="icon-link">
            <IconDownload size={14} aria-hidden /> Download
          </Anchor>
        ) : (
          address !== null && (
            <>
              <Text size="xs" c="dimmed">
                The provider gave an address instead of the picture. This page loads nothing from elsewhere.
              </Text>
              <Anchor href={address} target="_blank" rel="noreferrer noopener" size="xs" className="icon-link">
                <IconExternalLink size={14} aria-hidden /> Open at the provider
              </Anchor>
            </>
          )
        )}
      </figcaption>
    </figure>
  );
}

/** Pictures take a while: the seconds that pass show that something happens. */
function Waiting({ since }: { readonly since: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className="picture-waiting" role="status">
      <span className="unseen">The picture is being made. </span>
      <span aria-hidden>Making it… {formatElapsed(Math.max(0, now - since))}</span>
    </div>
  );
}
