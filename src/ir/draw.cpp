#include "ir/draw.h"

#include "ir/layered_layout.h"
#include "ir/op_info.h"
#include "ir/print.h"

namespace ingot {
namespace {

constexpr double kRowHeight = 64, kBoxHeight = 34, kMargin = 20, kGap = 16;
constexpr double kCharacter = 6.6;  // average width of one, at 11 pixels of the sans-serif font
constexpr size_t kLongestLabel = 36;

struct Drawing {
  struct Box {
    std::string title, detail, tooltip;
    const char* colour;
  };
  Layout layout;
  std::vector<Box> boxes;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
  }
  return out;
}

// Cut in the middle of no character of UTF-8.
std::string shortened(std::string text) {
  if (text.size() <= kLongestLabel) return text;
  size_t end = kLongestLabel - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

const char* colour_of(const OpInfo& info) {
  if (info.op == Op::Input) return "#d9ead3";
  if (info.is(Contraction)) return "#f9cb9c";
  if (info.is(Control)) return "#ead1dc";
  if (info.is(Movement)) return "#e8e8e8";
  if (info.is(Pointwise)) return "#cfe2f3";
  return "#fff2cc";
}

void add_box(Drawing& d, Drawing::Box box, bool at_top = false) {
  const size_t longest = std::max(box.title.size(), box.detail.size());
  d.layout.boxes.push_back(
      {.width = std::max(60.0, kCharacter * static_cast<double>(longest) + 16), .at_top = at_top});
  d.boxes.push_back(std::move(box));
}

std::string types_text(const Node& node) {
  std::string out;
  for (const Type& t : node.types) out += (out.empty() ? "" : ", ") + to_string(t);
  return out;
}

void add_node(Drawing& d, const Node& node) {
  const OpInfo& info = op_info(node.op);
  std::string title(node.op == Op::Input ? node.as<InputAttrs>().name : std::string(info.name));
  if (!node.subgraphs.empty()) title += fmt::format(" ({} bodies)", node.subgraphs.size());
  std::string tooltip = fmt::format("{} {}\n{}", info.name, print_attrs(node.attrs), types_text(node));
  if (!node.origin.empty()) tooltip += "\n" + node.origin;
  add_box(d, {shortened(std::move(title)), shortened(types_text(node)), std::move(tooltip), colour_of(info)},
          node.op == Op::Input);
}

Drawing make_drawing(const Graph& graph) {
  Drawing d;
  std::vector<size_t> box_of(graph.nodes().size(), SIZE_MAX);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op == Op::Constant) continue;
    box_of[i] = d.boxes.size();
    add_node(d, node);
    for (const Value v : node.operands)
      if (!v.is_none() && box_of[static_cast<size_t>(v.node)] != SIZE_MAX)
        d.layout.edges.push_back({box_of[static_cast<size_t>(v.node)], box_of[i], {}});
  }
  for (const Port& p : graph.outputs()) {
    const size_t from = box_of[static_cast<size_t>(p.value.node)];
    if (from != SIZE_MAX) d.layout.edges.push_back({from, d.boxes.size(), {}});
    add_box(d, {shortened(p.name), shortened(to_string(graph.type(p.value))), "output " + p.name, "#b6d7a8"});
  }
  return d;
}

double row_y(int row) { return kMargin + kRowHeight * row; }

std::string draw_edge(const Layout& layout, const LayoutEdge& e) {
  const LayoutBox &from = layout.boxes[e.from], &to = layout.boxes[e.to];
  double x = from.x + kMargin, y = row_y(from.row) + kBoxHeight;
  std::string out = fmt::format("<path d=\"M{:.1f} {:.1f}", x, y);
  const auto curve = [&](double next_x, double next_y) {
    const double middle = (y + next_y) / 2;
    out +=
        fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", x, middle, next_x, middle, next_x, next_y);
    x = next_x;
    y = next_y;
  };
  int row = from.row;
  for (double bend : e.bends) {
    curve(bend + kMargin, row_y(++row));
    y += kBoxHeight;
    out += fmt::format("V{:.1f}", y);
  }
  curve(to.x + kMargin, row_y(to.row) - 2);
  // Drawn straight across the rows between, so it must not hide what is there.
  const bool far = e.bends.empty() && to.row > from.row + 1;
  return out + (far ? "\" class=\"far\"/>\n" : "\"/>\n");
}

std::string draw_box(const Drawing::Box& box, const LayoutBox& at) {
  const double x = at.x + kMargin, y = row_y(at.row);
  return fmt::format(
      "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"4\" "
      "fill=\"{}\"/>"
      "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"op\">{}</text><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
      escaped(box.tooltip), x - at.width / 2, y, at.width, kBoxHeight, box.colour, x, y + 14,
      escaped(box.title), x, y + 27, escaped(box.detail));
}

// The main graph, or a body of one of its nodes under a heading.
struct Panel {
  std::string heading;
  Drawing drawing;
};

void add_panels(const Graph& graph, std::string heading, std::vector<Panel>& panels) {
  panels.push_back({std::move(heading), make_drawing(graph)});
  place(panels.back().drawing.layout, kGap);
  for (const Node& node : graph.nodes())
    for (size_t i = 0; i < node.subgraphs.size(); ++i)
      add_panels(*node.subgraphs[i],
                 fmt::format("body {} of {} {}: {}", i + 1, op_info(node.op).name, node.origin,
                             node.subgraphs[i]->name()),
                 panels);
}

double panel_width(const Panel& p) {
  return std::max(p.drawing.layout.width, kCharacter * static_cast<double>(p.heading.size())) + 2 * kMargin;
}

double panel_height(const Panel& p) {
  return row_y(p.drawing.layout.rows) - (kRowHeight - kBoxHeight) + kMargin;
}

std::string draw_panel(const Panel& panel, double y) {
  const Drawing& d = panel.drawing;
  std::string out;
  if (!panel.heading.empty())
    out =
        fmt::format("<g transform=\"translate(0 {:.0f})\"><text x=\"{}\" y=\"0\" class=\"body\">{}</text>\n",
                    y, kMargin, escaped(panel.heading));
  for (const LayoutEdge& e : d.layout.edges) out += draw_edge(d.layout, e);
  for (size_t i = 0; i < d.boxes.size(); ++i) out += draw_box(d.boxes[i], d.layout.boxes[i]);
  return out + (panel.heading.empty() ? "" : "</g>\n");
}

}  // namespace

std::string draw_svg(const Graph& graph) {
  std::vector<Panel> panels;
  add_panels(graph, "", panels);
  double width = 0, height = 0;
  std::string body;
  for (const Panel& p : panels) {
    if (!p.heading.empty()) height += kRowHeight / 2;
    body += draw_panel(p, height);
    height += panel_height(p);
    width = std::max(width, panel_width(p));
  }
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\">\n"
      "<title>{2}</title>\n"
      "<style>text{{font:11px sans-serif;text-anchor:middle;fill:#222}} .op{{font-weight:bold}} "
      ".body{{font:bold 13px sans-serif;text-anchor:start}} rect{{stroke:#666}} "
      "path{{fill:none;stroke:#888;marker-end:url(#tip)}} .far{{stroke:#ccc}}</style>\n"
      "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" "
      "markerHeight=\"6\" "
      "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" "
      "style=\"fill:#888;stroke:none;marker-end:none\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" style=\"fill:white;stroke:none\"/>\n",
      width, height, escaped(graph.name()));
  return out + body + "</svg>\n";
}

}  // namespace ingot
