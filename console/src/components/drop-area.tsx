import { IconUpload } from "@tabler/icons-react";
import { type DragEvent, type ReactNode, useState } from "react";
import "../styles/drop-area.css";

interface DropAreaProps {
  readonly accept: string;
  /** The name of the input, for screen readers. */
  readonly label: string;
  /** Id of the element with the accepted formats. */
  readonly "aria-describedby"?: string;
  readonly invalid?: boolean;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly onFiles: (files: readonly File[]) => void;
  readonly prompt: ReactNode;
  /** Replaces the prompt while a file is dragged over the area. */
  readonly dropNow: string;
  readonly children: ReactNode;
}

/** Files that are dropped here, or chosen. The input is reset, so that the same file can be chosen again. */
export function DropArea(props: DropAreaProps) {
  const {
    accept,
    label,
    invalid = false,
    required = false,
    disabled = false,
    onFiles,
    prompt,
    dropNow,
    children,
  } = props;
  const [over, setOver] = useState(false);
  const drag = (event: DragEvent, isOver: boolean) => {
    event.preventDefault();
    setOver(isOver && !disabled);
  };
  return (
    <label
      className="drop-area"
      data-over={over || undefined}
      onDragEnter={(event) => drag(event, true)}
      onDragOver={(event) => drag(event, true)}
      onDragLeave={(event) => drag(event, false)}
      onDrop={(event) => {
        drag(event, false);
        if (!disabled) onFiles([...event.dataTransfer.files]);
      }}
    >
      <input
        type="file"
        className="unseen"
        accept={accept}
        aria-label={label}
        required={required}
        disabled={disabled}
        aria-invalid={invalid}
        aria-describedby={props["aria-describedby"]}
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = "";
          onFiles(files);
        }}
      />
      <IconUpload size={20} stroke={1.5} aria-hidden />
      <span>{over ? dropNow : prompt}</span>
      {children}
    </label>
  );
}
