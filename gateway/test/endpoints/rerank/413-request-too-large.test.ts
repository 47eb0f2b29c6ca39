import { tooLarge } from "../passed-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

tooLarge(rerankEndpoint);
