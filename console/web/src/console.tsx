import { render } from "preact";

import { Console } from "./console/app";
import "./lib/visually_hidden.css";
import "./console/style.css";

render(<Console />, document.getElementById("page")!);
