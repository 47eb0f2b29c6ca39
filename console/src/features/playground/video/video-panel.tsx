import { Button, Group, Stack, Text } from "@mantine/core";
import { IconMovie } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useMemo, useRef, useState } from "react";
import { asProblem, isAbort, Problem } from "../../../client/problem.ts";
import { EmptyState } from "../../../components/empty-state.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { useUrlChange, useUrlSearch } from "../../../routes/search.ts";
import { useKept } from "../../media/kept.ts";
import { askAs, type KeyCall } from "../../media/key-call.ts";
import { readFields } from "../../media/more-fields.ts";
import { randomId } from "../../media/random-id.ts";
import { plainVideo, type VideoDraft, videoBody, videoDraftName } from "../../media/video-draft.ts";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { LiveTask } from "./live-task.tsx";
import { isField, VideoForm } from "./video-form.tsx";

const tasksMax = 20;
const noTasks: readonly string[] = [];

/** Starts a video and shows how it comes to be. */
export function VideoPanel({ call, model }: { readonly call: KeyCall; readonly model: string }) {
  const { workspace } = call;
  const [draft, setDraft] = useKept<VideoDraft>(videoDraftName(workspace), plainVideo);
  const [tasks, setTasks] = useKept<readonly string[]>(t("playground.videosOf", { workspace }), noTasks);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [starting, setStarting] = useState(false);
  const abort = useRef<AbortController | null>(null);
  const lost = useRef<{ readonly text: string; readonly key: string } | null>(null);
  const queries = useQueryClient();
  useHandedOver(setDraft);
  useEffect(() => () => abort.current?.abort(), []);
  const more = useMemo(() => readFields(draft.more), [draft.more]);
  const fields = more.problem === null ? more.fields : {};
  const body = videoBody(model, draft, fields);
  const asked = ["prompt", "image", "last_frame", "references", "content"].some((name) => name in body);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!asked || starting || more.problem !== null) return;
    setStarting(true);
    setProblem(null);
    const controller = new AbortController();
    abort.current = controller;
    try {
      // Where the answer was lost, another click must find the same task and make no second one.
      const text = JSON.stringify(body);
      if (lost.current?.text !== text) lost.current = { text, key: randomId() };
      const headers = { "idempotency-key": lost.current.key };
      const answered = await askAs(call, "/v1/video/tasks", body, { signal: controller.signal, headers });
      lost.current = null;
      const id = idIn(answered.value);
      if (id === null) throw new Problem("upstream_error", t("playground.theAnswerNamesNoTask"), answered.requestId);
      setTasks((before) => [id, ...before].slice(0, tasksMax));
      void queries.invalidateQueries({ queryKey: ["tasks.list"] });
    } catch (thrown) {
      if (isAbort(thrown)) return;
      const failed = asProblem(thrown);
      if (failed.code !== "unreachable") lost.current = null;
      setProblem(failed);
    } finally {
      setStarting(false);
    }
  };

  return (
    <div className="play-grid play-grid-form">
      <Section
        title={t("playground.newVideo")}
        actions={
          <>
            <SameCallButton
              make={() => ({
                path: "/v1/video/tasks",
                sdk: "video",
                body: asked ? body : { ...body, prompt: t("playground.aLighthouseAtDawn") },
              })}
            />
            <Button
              variant="subtle"
              size="compact-xs"
              onClick={() => {
                setDraft(plainVideo);
                setProblem(null);
              }}
            >
              {t("playground.clear")}
            </Button>
          </>
        }
      >
        <form onSubmit={submit}>
          <Stack gap="sm">
            <VideoForm
              workspace={workspace}
              draft={draft}
              problem={problem}
              moreProblem={more.problem}
              onChange={(change) => setDraft((before) => ({ ...before, ...change }))}
            />
            {problem !== null && !isField(problem.param) && <ProblemAlert problem={problem} />}
            <Group justify="flex-end">
              {isField(problem?.param ?? null) && (
                <Text size="xs" c="var(--mantine-color-error)" role="alert">
                  {t("playground.nothingWasSentMendWhat")}
                </Text>
              )}
              <Button type="submit" loading={starting} disabled={!asked || more.problem !== null}>
                {t("playground.makeVideo")}
              </Button>
            </Group>
          </Stack>
        </form>
      </Section>
      <Section
        title={t("playground.startedHere")}
        description={t("playground.theyGoOnWithoutYou")}
        actions={
          tasks.length > 0 && (
            <Button variant="subtle" size="compact-xs" onClick={() => setTasks(noTasks)}>
              {t("playground.clear")}
            </Button>
          )
        }
      >
        {tasks.length === 0 ? (
          <EmptyState icon={<IconMovie />} title={t("playground.noVideoStartedYet")}>
            {t("playground.aVideoTakesAMinute")}
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

/** What a link hands over, `?image=asset://…`, goes into the form once and leaves the address. */
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

function idIn(value: unknown): string | null {
  return value !== null && typeof value === "object" && "id" in value && typeof value.id === "string" ? value.id : null;
}
