import { unavailable } from "../forwarding-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

unavailable(rerankEndpoint);
