import { render } from "preact";

import { Console } from "./console/app";
import "./lib/visually_hidden.css";
import "./console/style.css";
import "./console/views.css"; // after style.css: it overrides some of its rules on tablets

render(<Console />, document.getElementById("page")!);
