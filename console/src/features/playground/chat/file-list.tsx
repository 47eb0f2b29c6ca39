import { CloseButton } from "@mantine/core";
import { IconFile } from "@tabler/icons-react";
import { t } from "../../../language/areas/playground.ts";
import type { AttachedFile } from "./conversation.ts";

interface FileListProps {
  readonly files: readonly AttachedFile[];
  readonly onRemove?: (id: string) => void;
}

/** Files of the workspace that a message names. */
export function FileList({ files, onRemove }: FileListProps) {
  if (files.length === 0) return null;
  return (
    <ul className="picture-list" aria-label={t("playground.attach.list")}>
      {files.map(({ id, name }) => (
        <li key={id}>
          <span className="picture-address" title={id}>
            <IconFile size={13} aria-hidden /> <span className="cut">{name}</span>
          </span>
          {onRemove !== undefined && (
            <CloseButton size="xs" aria-label={t("playground.attach.remove", { name })} onClick={() => onRemove(id)} />
          )}
        </li>
      ))}
    </ul>
  );
}
