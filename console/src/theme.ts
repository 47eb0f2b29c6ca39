import { createTheme } from "@mantine/core";
import { t } from "./language/areas/components.ts";

const control = { defaultProps: { size: "sm" } };

/** Its header is not a banner landmark, and its close button has a label. */
const dialog = {
  attributes: { header: { role: "presentation" } },
  closeButtonProps: { "aria-label": t("components.actions.close") },
};

/**
 * Dense and quiet: small controls, small corners, one accent. Colors are in styles/colors.css, sizes of text in styles/type.css. Components are named, not imported, so that
 * each page loads only the ones it renders.
 */
export const theme = createTheme({
  primaryColor: "cyan",
  respectReducedMotion: true,
  cursorType: "pointer",
  fontSizes: {
    xs: "var(--text-small)",
    sm: "var(--text-body)",
    md: "var(--text-large)",
    lg: "var(--text-larger)",
    xl: "var(--text-title)",
  },
  components: {
    Badge: { defaultProps: { variant: "light", radius: "sm", tt: "none", fw: 500 } },
    Button: { defaultProps: { size: "xs" } },
    Code: { defaultProps: { fz: "var(--text-code)" } },
    Drawer: { defaultProps: { ...dialog, position: "right", overlayProps: { backgroundOpacity: 0.35 } } },
    Menu: { defaultProps: { shadow: "md", position: "bottom-end", width: 220 } },
    Modal: { defaultProps: { ...dialog, centered: true, overlayProps: { backgroundOpacity: 0.35 }, ...dialog } },
    MultiSelect: control,
    NativeSelect: control,
    NumberInput: control,
    PasswordInput: control,
    SegmentedControl: { defaultProps: { size: "xs" } },
    Select: control,
    Table: { defaultProps: { fz: "sm", verticalSpacing: 6 } },
    TagsInput: control,
    Textarea: control,
    TextInput: control,
    Tooltip: { defaultProps: { withArrow: true, openDelay: 250, multiline: true, maw: 320 } },
  },
});
