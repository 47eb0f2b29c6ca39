import { Stack } from "@mantine/core";
import { type FormEvent, useMemo } from "react";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { fieldProblems } from "../../media/field-problems.ts";
import { readFields } from "../../media/more-fields.ts";
import { useTabState } from "../../media/tab-state.ts";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { RunButton } from "../run-button.tsx";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { ImageForm, imageFields } from "./image-form.tsx";
import { type PictureDraft, pictureBody, picturePath, plainNames, plainPicture } from "./picture-run.ts";
import { PictureRuns } from "./picture-runs.tsx";
import { usePictures } from "./use-pictures.ts";

/** Generates pictures, or edits uploaded ones. */
export function ImagesPanel({ call, model }: ModelPanelProps) {
  const [draft, setDraft] = useTabState<PictureDraft>(`playground.image.draft:${call.workspace}`, plainPicture);
  const pictures = usePictures(call);
  const more = useMemo(() => readFields(draft.more), [draft.more]);
  const fields = more.problem === null ? more.fields : {};
  const problems = fieldProblems(pictures.runs[0]?.problem ?? null, imageFields);
  const edits = draft.sources.length > 0;
  const ready = draft.prompt.trim() !== "" && more.problem === null && !pictures.running;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready) pictures.make(model, draft, fields);
  };
  const sameCall = () => ({
    path: picturePath(draft),
    sdk: edits ? ("edits" as const) : ("images" as const),
    body: pictureBody(
      model,
      { ...draft, prompt: draft.prompt || t("playground.form.promptSample") },
      fields,
      pictures.asksBase64(model),
    ),
    ...(edits ? { files: plainNames(draft.sources) } : {}),
  });
  return (
    <div className="play-grid play-grid-form">
      <Section
        title={edits ? t("playground.image.editTitle") : t("playground.image.title")}
        actions={<SameCallButton make={sameCall} />}
      >
        <form onSubmit={submit}>
          <Stack gap="sm">
            <ImageForm
              draft={draft}
              onChange={(change) => setDraft((before) => ({ ...before, ...change }))}
              errorOf={problems.of}
              moreProblem={more.problem}
            />
            <RunButton run={pictures} marked={problems.marked} disabled={!ready}>
              {edits ? t("playground.image.editRun") : t("playground.image.run")}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <PictureRuns
        runs={pictures.runs}
        workspace={call.workspace}
        onClear={pictures.clear}
        running={pictures.running}
        marked={problems.marked}
      />
    </div>
  );
}
