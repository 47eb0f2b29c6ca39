import { Button, Group, Stack } from "@mantine/core";
import { IconMovie } from "@tabler/icons-react";
import { type FormEvent, useEffect, useMemo } from "react";
import { EmptyState } from "../../../components/empty-state.tsx";
import { FormProblem } from "../../../components/form-problem.tsx";
import { Section } from "../../../components/section.tsx";
import { wrongField } from "../../../components/wrong-field.ts";
import { t } from "../../../language/areas/playground.ts";
import { useUrlChange, useUrlSearch } from "../../../routes/search.ts";
import { readFields } from "../../media/more-fields.ts";
import { useTabState } from "../../media/tab-state.ts";
import { plainVideo, type VideoDraft, videoBody, videoDraftName } from "../../media/video-draft.ts";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { LiveTask } from "./live-task.tsx";
import { useStartVideo } from "./use-start-video.ts";
import { VideoForm } from "./video-form.tsx";

const tasksMax = 20;
const noTasks: readonly string[] = [];

/** Starts a video and shows its progress. */
export function VideoPanel({ call, model }: ModelPanelProps) {
  const { workspace } = call;
  const [draft, setDraft] = useTabState<VideoDraft>(videoDraftName(workspace), plainVideo);
  const [tasks, setTasks] = useTabState<readonly string[]>(`playground.video:${workspace}`, noTasks);
  const video = useStartVideo(call, (id) => setTasks((before) => [id, ...before].slice(0, tasksMax)));
  useHandedOver(setDraft);
  const more = useMemo(() => readFields(draft.more), [draft.more]);
  const body = videoBody(model, draft, more.problem === null ? more.fields : {});
  const hasContent = ["prompt", "image", "last_frame", "references", "content"].some((name) => name in body);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (hasContent && more.problem === null) void video.start(body);
  };

  return (
    <div className="play-grid play-grid-form">
      <Section
        title={t("playground.video.title")}
        actions={
          <>
            <SameCallButton
              make={() => ({
                path: "/v1/video/tasks",
                sdk: "video",
                body: hasContent ? body : { ...body, prompt: t("playground.form.promptSample") },
              })}
            />
            <Button
              variant="subtle"
              size="compact-xs"
              onClick={() => {
                setDraft(plainVideo);
                video.forgetProblem();
              }}
            >
              {t("playground.run.clear")}
            </Button>
          </>
        }
      >
        <form onSubmit={submit}>
          <Stack gap="sm">
            <VideoForm
              workspace={workspace}
              draft={draft}
              errorOf={(field) => wrongField(video.problem, field)}
              moreProblem={more.problem}
              onChange={(change) => setDraft((before) => ({ ...before, ...change }))}
            />
            <FormProblem problem={video.problem} />
            <Group justify="flex-end">
              <Button type="submit" loading={video.starting} disabled={!hasContent || more.problem !== null}>
                {t("playground.video.run")}
              </Button>
            </Group>
          </Stack>
        </form>
      </Section>
      <Section
        title={t("playground.video.started")}
        description={t("playground.video.startedHelp")}
        actions={
          tasks.length > 0 && (
            <Button variant="subtle" size="compact-xs" onClick={() => setTasks(noTasks)}>
              {t("playground.run.clear")}
            </Button>
          )
        }
      >
        {tasks.length === 0 ? (
          <EmptyState icon={<IconMovie />} title={t("playground.video.none")}>
            {t("playground.video.noneHelp")}
          </EmptyState>
        ) : (
          <div className="runs">
            {tasks.map((task) => (
              <LiveTask key={task} workspace={workspace} id={task} />
            ))}
          </div>
        )}
      </Section>
    </div>
  );
}

/** An asset from a link (`?image=asset://…`) is put into the form once and removed from the URL. */
function useHandedOver(setDraft: (edit: (before: VideoDraft) => VideoDraft) => void): void {
  const search = useUrlSearch();
  const change = useUrlChange();
  const image = search["image"];
  const reference = search["reference"];
  const kind = search["reference_type"];
  useEffect(() => {
    if (image === undefined && reference === undefined) return;
    const type = kind === "video" || kind === "audio" ? kind : "image";
    setDraft((before) => ({
      ...before,
      ...(image === undefined ? {} : { image }),
      ...(reference === undefined || before.references.some((each) => each.url === reference)
        ? {}
        : { references: [...before.references, { url: reference, type }] }),
    }));
    change({ image: "", reference: "", reference_type: "" });
  }, [image, reference, kind, setDraft, change]);
}
