import { unavailable } from "../passed-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

unavailable(rerankEndpoint);
