import { Autocomplete, NumberInput, SegmentedControl, Stack, Text, Textarea } from "@mantine/core";
import { t } from "../../../language/areas/playground.ts";
import type { VideoDraft } from "../../media/video-draft.ts";
import { MoreField } from "../more-field.tsx";
import { MaterialInput } from "./material-input.tsx";
import { ReferenceList } from "./reference-list.tsx";

interface VideoFormProps {
  readonly workspace: string;
  readonly draft: VideoDraft;
  readonly onChange: (change: Partial<VideoDraft>) => void;
  readonly errorOf: (field: string) => string | null;
  readonly moreProblem: string | null;
}

const ratios = ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9", "adaptive"];
const resolutions = ["480p", "720p", "1080p", "2k", "4k"];

/** All parameters of a video. Empty ones use the model's defaults. */
export function VideoForm({ workspace, draft, onChange, errorOf, moreProblem }: VideoFormProps) {
  return (
    <Stack gap="sm">
      <Textarea
        label={t("playground.form.prompt")}
        placeholder={t("playground.video.promptHint")}
        autosize
        minRows={3}
        maxRows={12}
        value={draft.prompt}
        error={errorOf("prompt")}
        onChange={(event) => onChange({ prompt: event.currentTarget.value })}
      />
      <div className="form-pairs">
        <Autocomplete
          label={t("playground.video.ratio")}
          placeholder={t("playground.settings.default")}
          data={ratios}
          value={draft.ratio}
          error={errorOf("ratio")}
          onChange={(ratio) => onChange({ ratio })}
        />
        <Autocomplete
          label={t("playground.video.resolution")}
          placeholder={t("playground.settings.default")}
          data={resolutions}
          value={draft.resolution}
          error={errorOf("resolution")}
          onChange={(resolution) => onChange({ resolution })}
        />
        <NumberInput
          label={t("playground.video.seconds")}
          placeholder={t("playground.settings.default")}
          min={-1}
          max={3_600}
          allowDecimal={false}
          value={draft.duration ?? ""}
          error={errorOf("duration")}
          onChange={(next) => onChange({ duration: numberOrNull(next) })}
        />
        <NumberInput
          label={t("playground.video.seed")}
          placeholder={t("playground.video.seedRandom")}
          allowDecimal={false}
          value={draft.seed ?? ""}
          error={errorOf("seed")}
          onChange={(next) => onChange({ seed: numberOrNull(next) })}
        />
        <ThreeWay
          label={t("playground.video.audio")}
          value={draft.audio}
          error={errorOf("audio")}
          onChange={(audio) => onChange({ audio })}
        />
        <ThreeWay
          label={t("playground.video.watermark")}
          value={draft.watermark}
          error={errorOf("watermark")}
          onChange={(watermark) => onChange({ watermark })}
        />
      </div>
      <MaterialInput
        workspace={workspace}
        label={t("playground.video.firstFrame")}
        help={t("playground.video.firstFrameHelp")}
        value={draft.image}
        error={errorOf("image")}
        onChange={(image) => onChange({ image })}
      />
      <MaterialInput
        workspace={workspace}
        label={t("playground.video.lastFrame")}
        value={draft.lastFrame}
        error={errorOf("last_frame")}
        onChange={(lastFrame) => onChange({ lastFrame })}
      />
      <ReferenceList
        workspace={workspace}
        value={draft.references}
        error={errorOf("references")}
        onChange={(references) => onChange({ references })}
      />
      <MoreField
        placeholder={'{ "return_last_frame": true }'}
        value={draft.more}
        error={moreProblem}
        onChange={(more) => onChange({ more })}
      />
    </Stack>
  );
}

interface ThreeWayProps {
  readonly label: string;
  readonly value: boolean | null;
  readonly error: string | null;
  readonly onChange: (value: boolean | null) => void;
}

/** Yes, no, or the model's default. */
function ThreeWay({ label, value, error, onChange }: ThreeWayProps) {
  return (
    <div>
      <Text size="sm" fw={500} component="div">
        {label}
      </Text>
      <SegmentedControl
        aria-label={label}
        fullWidth
        data={[
          { value: "", label: t("playground.settings.default") },
          { value: "yes", label: t("playground.video.yes") },
          { value: "no", label: t("playground.video.no") },
        ]}
        value={value === null ? "" : value ? "yes" : "no"}
        onChange={(next) => onChange(next === "" ? null : next === "yes")}
      />
      {error !== null && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
    </div>
  );
}

function numberOrNull(value: string | number): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
