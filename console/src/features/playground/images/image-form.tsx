import { Autocomplete, Button, Group, NumberInput, Stack, Textarea } from "@mantine/core";
import { IconPhotoPlus } from "@tabler/icons-react";
import { useState } from "react";
import { FileButton } from "../../../components/file-button.tsx";
import { t } from "../../../language/areas/playground.ts";
import { pictureProblem, pictureTypes } from "../../media/data-url.ts";
import { FileProblem } from "../file-problem.tsx";
import { MoreField } from "../more-field.tsx";
import type { PictureDraft } from "./picture-run.ts";
import { SourceList } from "./source-list.tsx";

const sizes = ["auto", "1024x1024", "1536x1024", "1024x1536", "2048x2048"];
const qualities = ["auto", "low", "medium", "high", "standard", "hd"];
const sourcesMax = 8;

/** Fields that show their own errors. */
export const imageFields = ["prompt", "image", "size", "quality", "n"];

interface ImageFormProps {
  readonly draft: PictureDraft;
  readonly onChange: (change: Partial<PictureDraft>) => void;
  readonly errorOf: (field: string) => string | null;
  readonly moreProblem: string | null;
}

/** All parameters of an image request. */
export function ImageForm({ draft, onChange, errorOf, moreProblem }: ImageFormProps) {
  const [fileProblem, setFileProblem] = useState<string | null>(null);
  const addFiles = (files: readonly File[]) => {
    const good = files.filter((file) => pictureProblem(file) === null);
    const wrong = files.map(pictureProblem).find((each) => each !== null) ?? null;
    const room = sourcesMax - draft.sources.length;
    setFileProblem(good.length > room ? t("playground.image.sourcesMax", { count: sourcesMax }) : wrong);
    onChange({ sources: [...draft.sources, ...good.slice(0, room)] });
  };
  return (
    <Stack gap="sm">
      <Textarea
        label={t("playground.form.prompt")}
        placeholder={t("playground.image.promptHint")}
        autosize
        minRows={3}
        maxRows={12}
        required
        value={draft.prompt}
        error={errorOf("prompt")}
        onChange={(event) => onChange({ prompt: event.currentTarget.value })}
        onPaste={(event) => {
          const files = [...event.clipboardData.files];
          if (files.length === 0) return;
          event.preventDefault();
          addFiles(files);
        }}
      />
      <div>
        <FileButton accept={pictureTypes.join(",")} multiple onChange={addFiles}>
          {(button) => (
            <Button {...button} variant="default" leftSection={<IconPhotoPlus size={15} aria-hidden />}>
              {t("playground.image.upload")}
            </Button>
          )}
        </FileButton>
        <FileProblem problem={fileProblem ?? errorOf("image")} />
        <SourceList
          files={draft.sources}
          onRemove={(at) => onChange({ sources: draft.sources.filter((_, each) => each !== at) })}
        />
      </div>
      <ImageOptions draft={draft} onChange={onChange} errorOf={errorOf} />
      <MoreField
        placeholder={'{ "background": "transparent" }'}
        value={draft.more}
        error={moreProblem}
        onChange={(more) => onChange({ more })}
      />
    </Stack>
  );
}

function ImageOptions({ draft, onChange, errorOf }: Omit<ImageFormProps, "moreProblem">) {
  return (
    <>
      <Group grow gap="xs" align="flex-start">
        <Autocomplete
          label={t("playground.image.size")}
          placeholder={t("playground.settings.default")}
          data={sizes}
          value={draft.size}
          error={errorOf("size")}
          onChange={(size) => onChange({ size })}
        />
        <Autocomplete
          label={t("playground.image.quality")}
          placeholder={t("playground.settings.default")}
          data={qualities}
          value={draft.quality}
          error={errorOf("quality")}
          onChange={(quality) => onChange({ quality })}
        />
      </Group>
      <NumberInput
        label={t("playground.image.count")}
        placeholder="1"
        min={1}
        max={10}
        allowDecimal={false}
        value={draft.count ?? ""}
        error={errorOf("n")}
        onChange={(next) => onChange({ count: typeof next === "number" ? next : null })}
      />
    </>
  );
}
