import { CloseButton, Input, Progress, Text } from "@mantine/core";
import { IconFile } from "@tabler/icons-react";
import { useState } from "react";
import { formatBytes } from "../../client/format.ts";
import { DropArea } from "../../components/drop-area.tsx";
import { Rich, t } from "../../language/areas/assets.ts";
import { uploadBytesMax, uploadProblem, uploadTypes } from "./upload-file.ts";

interface DropZoneProps {
  readonly file: File | null;
  readonly onFile: (file: File | null) => void;
  /** The gateway's error about the file. */
  readonly error: string | null;
  /** Bytes that have been sent; null while nothing is. */
  readonly sent: number | null;
}

/** A file to be uploaded: dropped here, or chosen. */
export function DropZone({ file, onFile, error, sent }: DropZoneProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const take = (files: readonly File[]) => {
    const [first] = files;
    if (first === undefined) return;
    const wrong = files.length > 1 ? t("assets.upload.one") : uploadProblem(first);
    setProblem(wrong);
    if (wrong === null) onFile(first);
  };
  const shownProblem = problem ?? error;
  return (
    <div>
      <Input.Label component="div" required>
        {t("assets.add.file")}
      </Input.Label>
      {file === null ? (
        <DropArea
          accept={uploadTypes}
          label={t("assets.upload.choose")}
          invalid={shownProblem !== null}
          aria-describedby="upload-limits"
          required
          onFiles={take}
          prompt={
            <Rich text="assets.upload.drop" tags={{ choose: (words) => <span className="text-link">{words}</span> }} />
          }
          dropNow={t("assets.upload.dropNow")}
        >
          <Text size="xs" c="dimmed" component="span" id="upload-limits">
            {t("assets.upload.limits", {
              image: formatBytes(uploadBytesMax.Image),
              video: formatBytes(uploadBytesMax.Video),
              audio: formatBytes(uploadBytesMax.Audio),
            })}
          </Text>
        </DropArea>
      ) : (
        <ChosenFile file={file} sent={sent} invalid={shownProblem !== null} onRemove={() => onFile(null)} />
      )}
      {shownProblem !== null && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert" mt={4}>
          {shownProblem}
        </Text>
      )}
    </div>
  );
}

interface ChosenFileProps {
  readonly file: File;
  readonly sent: number | null;
  readonly invalid: boolean;
  readonly onRemove: () => void;
}

/** The chosen file and its upload progress. The form is slightly larger than the file. */
function ChosenFile({ file, sent, invalid, onRemove }: ChosenFileProps) {
  const share = sent === null ? 0 : Math.min(1, sent / Math.max(1, file.size));
  return (
    <div className="chosen-file">
      <div className="chosen-file-line">
        <IconFile size={16} stroke={1.5} aria-hidden />
        <span className="cut" title={file.name}>
          {file.name}
        </span>
        <span className="tabular nowrap">{formatBytes(file.size)}</span>
        {sent === null && (
          <CloseButton
            size="sm"
            aria-label={t("assets.upload.remove", { name: file.name })}
            aria-invalid={invalid}
            onClick={onRemove}
          />
        )}
      </div>
      {sent !== null && (
        <>
          <Progress size="sm" value={share * 100} aria-label={t("assets.upload.progressLabel")} />
          <Text size="xs" c="dimmed" role="status">
            {share < 1
              ? t("assets.upload.progress", { sent: formatBytes(share * file.size), all: formatBytes(file.size) })
              : t("assets.upload.checking")}
          </Text>
        </>
      )}
    </div>
  );
}
