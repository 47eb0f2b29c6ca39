import { Anchor, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { t } from "../../language/areas/playground.ts";

interface SoundPlayerProps {
  readonly sound: Blob;
  /** File name for the download. */
  readonly name: string;
  readonly note: string;
}

/** An audio player with download, also for formats that the browser cannot play. */
export function SoundPlayer({ sound, name, note }: SoundPlayerProps) {
  const [url, setUrl] = useState<string | null>(null);
  const [broken, setBroken] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(sound);
    setUrl(made);
    setBroken(false);
    return () => URL.revokeObjectURL(made);
  }, [sound]);
  if (url === null) return null;
  return (
    <div className="sound">
      {broken ? (
        <Text size="sm">{t("playground.sound.unplayable")}</Text>
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: the spoken text is next to it.
        <audio controls src={url} aria-label={name} onError={() => setBroken(true)} />
      )}
      <div className="sound-foot">
        <Anchor href={url} download={name} size="xs" className="icon-link">
          <IconDownload size={14} aria-hidden /> {t("playground.run.download")}
        </Anchor>
        <Text size="xs" c="dimmed" className="break">
          {name}, {note}
        </Text>
      </div>
    </div>
  );
}
