import { Autocomplete, NumberInput, SegmentedControl, Stack, Text, Textarea } from "@mantine/core";
import type { Problem } from "../../../client/problem.ts";
import { t } from "../../../language/areas/playground.ts";
import type { VideoDraft } from "../../media/video-draft.ts";
import { MaterialInput } from "./material-input.tsx";
import { ReferenceList } from "./reference-list.tsx";

interface VideoFormProps {
  readonly workspace: string;
  readonly draft: VideoDraft;
  readonly onChange: (change: Partial<VideoDraft>) => void;
  readonly problem: Problem | null;
  readonly moreProblem: string | null;
}

const ratios = ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9", "adaptive"];
const resolutions = ["480p", "720p", "1080p", "2k", "4k"];

const fields = ["prompt", "ratio", "resolution", "duration", "seed", "audio", "watermark", "image", "last_frame"];

/** Whether the form shows by itself what is wrong with a field. */
export function isField(param: string | null): boolean {
  return param === "references" || (param !== null && fields.includes(param));
}

/** Everything that a video can be asked for. What is left out is the model's to decide. */
export function VideoForm({ workspace, draft, onChange, problem, moreProblem }: VideoFormProps) {
  const problemOf = (name: string) => (problem?.param === name ? problem.message : null);
  return (
    <Stack gap="sm">
      <Textarea
        label={t("playground.prompt")}
        placeholder={t("playground.aLighthouseAtDawnThe2")}
        autosize
        minRows={3}
        maxRows={12}
        value={draft.prompt}
        error={problemOf("prompt")}
        onChange={(event) => onChange({ prompt: event.currentTarget.value })}
      />
      <div className="form-pairs">
        <Autocomplete
          label={t("playground.ratio")}
          placeholder={t("playground.default")}
          data={ratios}
          value={draft.ratio}
          error={problemOf("ratio")}
          onChange={(ratio) => onChange({ ratio })}
        />
        <Autocomplete
          label={t("playground.resolution")}
          placeholder={t("playground.default")}
          data={resolutions}
          value={draft.resolution}
          error={problemOf("resolution")}
          onChange={(resolution) => onChange({ resolution })}
        />
        <NumberInput
          label={t("playground.seconds")}
          placeholder={t("playground.default")}
          min={-1}
          max={3_600}
          allowDecimal={false}
          value={draft.duration ?? ""}
          error={problemOf("duration")}
          onChange={(next) => onChange({ duration: numberOrNull(next) })}
        />
        <NumberInput
          label={t("playground.seed")}
          placeholder={t("playground.chance")}
          allowDecimal={false}
          value={draft.seed ?? ""}
          error={problemOf("seed")}
          onChange={(next) => onChange({ seed: numberOrNull(next) })}
        />
        <ThreeWay
          label={t("playground.sound")}
          value={draft.audio}
          error={problemOf("audio")}
          onChange={(audio) => onChange({ audio })}
        />
        <ThreeWay
          label={t("playground.watermark")}
          value={draft.watermark}
          error={problemOf("watermark")}
          onChange={(watermark) => onChange({ watermark })}
        />
      </div>
      <MaterialInput
        workspace={workspace}
        label={t("playground.firstFrame")}
        value={draft.image}
        error={problemOf("image")}
        onChange={(image) => onChange({ image })}
      />
      <MaterialInput
        workspace={workspace}
        label={t("playground.lastFrame")}
        value={draft.lastFrame}
        error={problemOf("last_frame")}
        onChange={(lastFrame) => onChange({ lastFrame })}
      />
      <ReferenceList
        workspace={workspace}
        value={draft.references}
        error={problemOf("references")}
        onChange={(references) => onChange({ references })}
      />
      <Textarea
        label={t("playground.moreFields")}
        description={t("playground.anythingElseForTheBody2")}
        placeholder={'{ "return_last_frame": true }'}
        autosize
        minRows={1}
        maxRows={10}
        className="written"
        spellCheck={false}
        value={draft.more}
        error={moreProblem}
        onChange={(event) => onChange({ more: event.currentTarget.value })}
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

/** Yes, no, or the model's own way. */
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
          { value: "", label: t("playground.default2") },
          { value: "yes", label: t("playground.yes") },
          { value: "no", label: t("playground.no") },
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
