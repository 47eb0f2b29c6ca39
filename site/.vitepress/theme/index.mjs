import theme from "vitepress/theme";
import Diagram from "./diagram.vue";
import "./site.css";

export default { extends: theme, enhanceApp: ({ app }) => app.component("Diagram", Diagram) };
