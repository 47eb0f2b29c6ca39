import { CloseButton } from "@mantine/core";
import { useEffect, useState } from "react";
import { formatBytes } from "../../../client/format.ts";
import { t } from "../../../language/areas/playground.ts";

interface SourceListProps {
  readonly files: readonly File[];
  readonly onRemove: (at: number) => void;
}

/** Uploaded pictures to edit. */
export function SourceList({ files, onRemove }: SourceListProps) {
  if (files.length === 0) return null;
  return (
    <ul className="picture-list">
      {files.map((file, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be there twice.
        <li key={at}>
          <SourceView file={file} />
          <CloseButton
            size="xs"
            aria-label={t("playground.image.remove", { name: file.name })}
            onClick={() => onRemove(at)}
          />
        </li>
      ))}
    </ul>
  );
}

function SourceView({ file }: { readonly file: File }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  if (url === null) return null;
  return <img src={url} alt={file.name} title={`${file.name}, ${formatBytes(file.size)}`} />;
}
