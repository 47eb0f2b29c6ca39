import { Button, Group, Text } from "@mantine/core";
import { IconFileMusic } from "@tabler/icons-react";
import { useState } from "react";
import { formatBytes } from "../../../client/format.ts";
import { FileButton } from "../../../components/file-button.tsx";
import { t } from "../../../language/areas/playground.ts";
import { FileProblem } from "../file-problem.tsx";
import { SoundPlayer } from "../sound-player.tsx";
import { RecordButton } from "./record-button.tsx";
import { soundProblem, soundTypes } from "./transcribe.ts";

interface SoundInputProps {
  readonly file: File | null;
  readonly onFile: (file: File) => void;
  readonly error: string | null;
  readonly disabled: boolean;
}

/** The audio to transcribe: a file or a recording. */
export function SoundInput({ file, onFile, error, disabled }: SoundInputProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const give = (given: File | null) => {
    if (given === null) return;
    const wrong = soundProblem(given);
    setProblem(wrong);
    if (wrong === null) onFile(given);
  };
  return (
    <div>
      <Group gap="xs">
        <FileButton accept={soundTypes} onChange={give}>
          {(button) => (
            <Button {...button} variant="default" leftSection={<IconFileMusic size={15} aria-hidden />}>
              {t("playground.transcription.choose")}
            </Button>
          )}
        </FileButton>
        <RecordButton disabled={disabled} onRecorded={give} onProblem={setProblem} />
      </Group>
      <FileProblem problem={problem ?? error} />
      {file === null ? (
        <Text size="xs" c="dimmed" mt={4}>
          {t("playground.transcription.fileHelp")}
        </Text>
      ) : (
        <SoundPlayer sound={file} name={file.name} note={formatBytes(file.size)} />
      )}
    </div>
  );
}
