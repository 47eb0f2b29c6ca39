import { Autocomplete, Button, FileButton, Group, NumberInput, Stack, Text, Textarea } from "@mantine/core";
import { IconPhotoPlus } from "@tabler/icons-react";
import { type FormEvent, useMemo, useState } from "react";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { pictureProblem, pictureTypes } from "../../media/data-url.ts";
import { useKept } from "../../media/kept.ts";
import type { KeyCall } from "../../media/key-call.ts";
import { readFields } from "../../media/more-fields.ts";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { type PictureDraft, pictureBody, picturePath, plainNames, plainPicture } from "./picture-run.ts";
import { PictureRuns } from "./picture-runs.tsx";
import { SourceList } from "./source-list.tsx";
import { usePictures } from "./use-pictures.ts";

const sizes = ["auto", "1024x1024", "1536x1024", "1024x1536", "2048x2048"];
const qualities = ["auto", "low", "medium", "high", "standard", "hd"];
const sourcesMax = 8;

/** Makes pictures, or changes some. */
export function ImagesPanel({ call, model }: { readonly call: KeyCall; readonly model: string }) {
  const [draft, setDraft] = useKept<PictureDraft>(
    t("playground.pictureDraftOf", { workspace: call.workspace }),
    plainPicture,
  );
  const pictures = usePictures(call);
  const [fileProblem, setFileProblem] = useState<string | null>(null);
  const more = useMemo(() => readFields(draft.more), [draft.more]);
  const fields = more.problem === null ? more.fields : {};
  const set = (change: Partial<PictureDraft>) => setDraft((before) => ({ ...before, ...change }));
  const param = pictures.runs[0]?.problem?.param ?? null;
  const problemOf = (name: string) => (param === name ? (pictures.runs[0]?.problem?.message ?? null) : null);
  const ready = draft.prompt.trim() !== "" && more.problem === null && !pictures.running;
  const addFiles = (files: readonly File[]) => {
    const good = files.filter((file) => pictureProblem(file) === null);
    const wrong = files.map(pictureProblem).find((each) => each !== null) ?? null;
    const room = sourcesMax - draft.sources.length;
    setFileProblem(good.length > room ? t("playground.atMostPicturesCanBe", { sourcesMax }) : wrong);
    set({ sources: [...draft.sources, ...good.slice(0, room)] });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready) pictures.make(model, draft, fields);
  };
  const sameCall = () => ({
    path: picturePath(draft),
    sdk: draft.sources.length === 0 ? ("images" as const) : ("edits" as const),
    body: pictureBody(
      model,
      { ...draft, prompt: draft.prompt || t("playground.aLighthouseAtDawn") },
      fields,
      pictures.asksBase64(model),
    ),
    ...(draft.sources.length === 0 ? {} : { files: plainNames(draft.sources) }),
  });

  return (
    <div className="play-grid play-grid-form">
      <Section
        title={draft.sources.length === 0 ? t("playground.newPicture") : t("playground.changeAPicture")}
        actions={<SameCallButton make={sameCall} />}
      >
        <form onSubmit={submit}>
          <Stack gap="sm">
            <Textarea
              label={t("playground.prompt")}
              placeholder={t("playground.aLighthouseAtDawnWatercolour")}
              autosize
              minRows={3}
              maxRows={12}
              required
              value={draft.prompt}
              error={problemOf("prompt")}
              onChange={(event) => set({ prompt: event.currentTarget.value })}
              onPaste={(event) => {
                const files = [...event.clipboardData.files];
                if (files.length === 0) return;
                event.preventDefault();
                addFiles(files);
              }}
            />
            <div>
              <Group gap="xs">
                <FileButton accept={pictureTypes.join(",")} multiple onChange={addFiles}>
                  {(button) => (
                    <Button {...button} variant="default" leftSection={<IconPhotoPlus size={15} aria-hidden />}>
                      {t("playground.uploadAPictureToChange")}
                    </Button>
                  )}
                </FileButton>
              </Group>
              {fileProblem !== null && (
                <Text size="xs" c="var(--mantine-color-error)" role="alert" mt={4}>
                  {fileProblem}
                </Text>
              )}
              <SourceList
                files={draft.sources}
                onRemove={(at) => set({ sources: draft.sources.filter((_, each) => each !== at) })}
              />
            </div>
            <Group grow gap="xs" align="flex-start">
              <Autocomplete
                label={t("playground.size")}
                placeholder={t("playground.default")}
                data={sizes}
                value={draft.size}
                error={problemOf("size")}
                onChange={(size) => set({ size })}
              />
              <Autocomplete
                label={t("playground.quality")}
                placeholder={t("playground.default")}
                data={qualities}
                value={draft.quality}
                error={problemOf("quality")}
                onChange={(quality) => set({ quality })}
              />
            </Group>
            <NumberInput
              label={t("playground.howMany")}
              placeholder="1"
              min={1}
              max={10}
              allowDecimal={false}
              value={draft.count ?? ""}
              error={problemOf("n")}
              onChange={(next) => set({ count: typeof next === "number" ? next : null })}
            />
            <Textarea
              label={t("playground.moreFields")}
              description={t("playground.anythingElseForTheBody2")}
              placeholder={'{ "background": "transparent" }'}
              autosize
              minRows={1}
              maxRows={10}
              className="written"
              spellCheck={false}
              value={draft.more}
              error={more.problem}
              onChange={(event) => set({ more: event.currentTarget.value })}
            />
            <Group justify="flex-end">
              {pictures.running ? (
                <Button type="button" variant="default" onClick={pictures.stop}>
                  {t("playground.stop")}
                </Button>
              ) : (
                <Button type="submit" disabled={!ready}>
                  {draft.sources.length === 0 ? t("playground.makePicture") : t("playground.changePicture")}
                </Button>
              )}
            </Group>
          </Stack>
        </form>
      </Section>
      <PictureRuns
        runs={pictures.runs}
        workspace={call.workspace}
        onClear={pictures.clear}
        running={pictures.running}
      />
    </div>
  );
}
