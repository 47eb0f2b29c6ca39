import { CloseButton } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { IconSpeakerphone } from "@tabler/icons-react";
import { t } from "../language/areas/shell.ts";

/** The administrators' notice. It stays closed in this browser until its text changes. */
export function Announcement({ text }: { readonly text: string }) {
  const [closed, setClosed] = useLocalStorage({
    key: "sluice.announcement",
    defaultValue: "",
    getInitialValueInEffect: false,
  });
  if (text === "" || closed === text) return null;
  return (
    <section className="announcement" aria-label={t("shell.announcement.title")}>
      <IconSpeakerphone size={16} aria-hidden />
      <span className="announcement-text">{text}</span>
      <CloseButton size="sm" aria-label={t("shell.announcement.close")} onClick={() => setClosed(text)} />
    </section>
  );
}
