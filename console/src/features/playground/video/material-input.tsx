import { ActionIcon, Button, Group, Text, TextInput, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { assetContentPath } from "@sluice/contract";
import { IconLibraryPhoto, IconUpload } from "@tabler/icons-react";
import { useState } from "react";
import { formatBytes } from "../../../client/format.ts";
import { FileButton } from "../../../components/file-button.tsx";
import { t } from "../../../language/areas/playground.ts";
import { AssetPicker } from "../../media/asset-picker.tsx";
import { bytesOfDataUrl, pictureProblem, pictureTypes, readAsDataUrl } from "../../media/data-url.ts";

interface MaterialInputProps {
  readonly workspace: string;
  readonly label: string;
  readonly help?: string;
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (value: string) => void;
}

/** A picture for a video: a URL, an asset of the workspace, or a file sent with the request. */
export function MaterialInput({ workspace, label, help, value, error, onChange }: MaterialInputProps) {
  const [picking, { open, close }] = useDisclosure(false);
  const [problem, setProblem] = useState<string | null>(null);
  const inline = value.startsWith("data:");
  const upload = async (file: File | null) => {
    if (file === null) return;
    const wrong = pictureProblem(file);
    setProblem(wrong);
    if (wrong !== null) return;
    const url = await readAsDataUrl(file).catch(() => null);
    if (url === null) setProblem(t("playground.files.unreadable", { name: file.name }));
    else onChange(url);
  };
  return (
    <div className="material">
      <MaterialView key={value} workspace={workspace} value={value} alt={label} />
      <div className="grow">
        <TextInput
          label={label}
          placeholder={t("playground.video.urlHint")}
          maxLength={inline ? undefined : 8_192}
          readOnly={inline}
          value={inline ? t("playground.video.inline", { bytes: formatBytes(bytesOfDataUrl(value)) }) : value}
          error={error ?? problem}
          onChange={(event) => onChange(event.currentTarget.value)}
          rightSectionWidth={64}
          rightSection={
            <Group gap={2} wrap="nowrap">
              <Tooltip label={t("playground.video.asset")}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  onClick={open}
                  aria-label={t("playground.video.assetFor", { label })}
                >
                  <IconLibraryPhoto size={16} stroke={1.6} />
                </ActionIcon>
              </Tooltip>
              <FileButton accept={pictureTypes.join(",")} onChange={(file) => void upload(file)}>
                {(button) => (
                  <Tooltip label={t("playground.video.upload")}>
                    <ActionIcon
                      {...button}
                      variant="subtle"
                      color="gray"
                      aria-label={t("playground.video.uploadFor", { label })}
                    >
                      <IconUpload size={16} stroke={1.6} />
                    </ActionIcon>
                  </Tooltip>
                )}
              </FileButton>
            </Group>
          }
        />
        {value !== "" && (
          <Button variant="subtle" size="compact-xs" mt={2} onClick={() => onChange("")}>
            {t("playground.video.takeOut")}
          </Button>
        )}
        {value === "" && help !== undefined && (
          <Text size="xs" c="dimmed" mt={2}>
            {help}
          </Text>
        )}
      </div>
      <AssetPicker
        workspace={workspace}
        opened={picking}
        type="Image"
        onClose={close}
        onPick={(asset) => {
          onChange(`asset://${asset.id}`);
          close();
        }}
      />
    </div>
  );
}

/** A preview if possible; nothing is loaded from other sites. */
function MaterialView({
  workspace,
  value,
  alt,
}: {
  readonly workspace: string;
  readonly value: string;
  readonly alt: string;
}) {
  const [broken, setBroken] = useState(false);
  const asset = /^asset:\/\/(as_[\w-]+)$/.exec(value.trim())?.[1];
  const source =
    asset !== undefined ? assetContentPath(workspace, asset) : value.startsWith("data:image/") ? value : null;
  if (source === null || broken) return null;
  return <img src={source} alt={alt} className="material-view" onError={() => setBroken(true)} />;
}
