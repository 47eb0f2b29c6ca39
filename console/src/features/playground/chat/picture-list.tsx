import { CloseButton } from "@mantine/core";
import { IconLink } from "@tabler/icons-react";
import { t } from "../../../language/areas/playground.ts";

interface PictureListProps {
  readonly pictures: readonly string[];
  readonly onRemove?: (at: number) => void;
}

/** Pictures of a message. A picture with only a URL is shown as text, because the page loads nothing from other sites. */
export function PictureList({ pictures, onRemove }: PictureListProps) {
  if (pictures.length === 0) return null;
  return (
    <ul className="picture-list">
      {pictures.map((url, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same picture may be there twice.
        <li key={at}>
          {url.startsWith("data:") ? (
            <img src={url} alt={t("playground.chat.attached", { number: at + 1 })} />
          ) : (
            <span className="picture-address" title={url}>
              <IconLink size={13} aria-hidden /> <span className="cut">{url}</span>
            </span>
          )}
          {onRemove !== undefined && (
            <CloseButton
              size="xs"
              aria-label={t("playground.chat.imageRemove", { number: at + 1 })}
              onClick={() => onRemove(at)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}
